"""LIST and GET: revisions, pages, selectors and representations.

Source: apiserver pkg/storage/{cacher,etcd3}, pkg/endpoints/handlers/get.go (1.36).
"""

import base64
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from tests.server.cluster import Api
from tests.server.verbs.objects import (
    CONFIG_MAPS,
    PARTIAL,
    PARTIAL_LIST,
    PODS,
    TABLE,
    WIDGETS,
    config_map,
    pod,
    some_config_maps,
    widget,
    with_widgets,
)

JSON = "application/json"


def names(body: Any) -> list[str]:
    """The names of a list's items."""
    return [item["metadata"]["name"] for item in body["items"]]


def token(revision: int, start: str, version: str = "meta.k8s.io/v1") -> str:
    """A continue token."""
    text = orjson.dumps({"v": version, "rv": revision, "start": start})
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


async def test_list_without_revision_sees_the_newest_write(api: Api) -> None:
    created = await some_config_maps(api, 1)
    listed = (await api.get(CONFIG_MAPS)).body
    assert listed["metadata"]["resourceVersion"] == created[0]["metadata"]["resourceVersion"]


AUTOSCALERS = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"
PAIRS = {
    "namespace": (f"{CONFIG_MAPS}?", "/api/v1/configmaps?", JSON),
    "label selector": (f"{CONFIG_MAPS}?labelSelector=n%3D0", f"{CONFIG_MAPS}?labelSelector=n%3D1", JSON),
    "field selector": (
        f"{CONFIG_MAPS}?fieldSelector=metadata.name!%3Da",
        f"{CONFIG_MAPS}?fieldSelector=metadata.name!%3Db",
        JSON,
    ),
    "limit": (f"{CONFIG_MAPS}?", f"{CONFIG_MAPS}?limit=1", JSON),
    "version": (f"{AUTOSCALERS.format('v1')}?", f"{AUTOSCALERS.format('v2')}?", JSON),
    "object in a row": (f"{CONFIG_MAPS}?includeObject=Object", f"{CONFIG_MAPS}?includeObject=None", TABLE),
}
"""Paths of lists that differ in one part."""


@pytest.mark.parametrize(("one", "other", "accept"), PAIRS.values(), ids=PAIRS)
async def test_a_cached_list_is_for_its_request_alone(api: Api, one: str, other: str, accept: str) -> None:
    for number, name in enumerate("ab"):
        await api.create(CONFIG_MAPS, config_map(name, labels={"n": str(number)}))
    await api.create("/api/v1/namespaces/kube-public/configmaps", config_map("c"))
    spec = {"maxReplicas": 2, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}}
    await api.create(AUTOSCALERS.format("v2"), {"metadata": {"name": "a"}, "spec": spec})
    found = {}
    for path in (one, other, one):
        body = found[path] = (await api.get(path, accept=accept)).body
        uncached = f"{path}&resourceVersionMatch=Exact&resourceVersion={body['metadata']['resourceVersion']}"
        assert body == (await api.get(uncached, accept=accept)).body
    assert {**found[one], "metadata": {}} != {**found[other], "metadata": {}}


async def test_a_table_shows_the_newest_state_of_an_object(api: Api) -> None:
    await api.create(CONFIG_MAPS, {"metadata": {"name": "a"}})
    shown = []
    for key in "xy":
        await api.patch(f"{CONFIG_MAPS}/a", {"data": {key: ""}})
        shown.append((await api.get(CONFIG_MAPS, accept=TABLE)).body["rows"][0]["cells"][1])
    assert shown == [1, 2]


async def test_list_of_a_builtin_leaves_out_the_type_of_items(api: Api) -> None:
    await some_config_maps(api, 1)
    listed = (await api.get(CONFIG_MAPS)).body
    assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")
    assert "kind" not in listed["items"][0]
    assert "apiVersion" not in listed["items"][0]


async def test_list_of_a_custom_resource_keeps_the_type_of_items(api: Api) -> None:
    await with_widgets(api)
    await api.create(WIDGETS, widget())
    listed = (await api.get(WIDGETS)).body
    assert (listed["kind"], listed["items"][0]["kind"]) == ("WidgetList", "Widget")
    assert listed["items"][0]["apiVersion"] == "example.com/v1"


async def test_empty_list_has_an_empty_array(api: Api) -> None:
    response = await api.client.get(CONFIG_MAPS)
    assert b'"items":[]' in response.body


async def test_list_is_in_the_order_of_keys(api: Api) -> None:
    for name in ("b", "a-b", "a.b", "a", "c10", "c9"):
        await api.create(CONFIG_MAPS, config_map(name))
    assert names((await api.get(CONFIG_MAPS)).body) == ["a", "a-b", "a.b", "b", "c10", "c9"]


async def test_list_over_all_namespaces(api: Api) -> None:
    await api.create("/api/v1/namespaces", {"metadata": {"name": "other"}})
    await api.create("/api/v1/namespaces/other/configmaps", config_map("z"))
    await api.create(CONFIG_MAPS, config_map("a"))
    listed = (await api.get("/api/v1/configmaps")).body
    assert [i["metadata"]["namespace"] for i in listed["items"]] == ["default", "other"]


async def test_revision_zero_ignores_the_limit(api: Api) -> None:
    await some_config_maps(api, 3)
    listed = (await api.get(f"{CONFIG_MAPS}?resourceVersion=0&limit=1")).body
    assert len(listed["items"]) == 3
    assert "continue" not in listed["metadata"]


async def test_revision_without_limit_is_a_lower_bound(api: Api) -> None:
    created = await some_config_maps(api, 3)
    revision = created[0]["metadata"]["resourceVersion"]
    listed = (await api.get(f"{CONFIG_MAPS}?resourceVersion={revision}")).body
    assert len(listed["items"]) == 3


async def test_revision_with_limit_is_exact(api: Api) -> None:
    created = await some_config_maps(api, 3)
    revision = created[1]["metadata"]["resourceVersion"]
    listed = (await api.get(f"{CONFIG_MAPS}?resourceVersion={revision}&limit=10")).body
    assert names(listed) == ["cm-0", "cm-1"]
    assert listed["metadata"]["resourceVersion"] == revision


async def test_an_exact_match_returns_the_old_revision(api: Api) -> None:
    created = await some_config_maps(api, 3)
    revision = created[0]["metadata"]["resourceVersion"]
    listed = (await api.get(f"{CONFIG_MAPS}?resourceVersion={revision}&resourceVersionMatch=Exact")).body
    assert names(listed) == ["cm-0"]


@pytest.mark.parametrize(
    "query",
    ["resourceVersion=999999", "resourceVersion=999999&resourceVersionMatch=NotOlderThan"],
    ids=["legacy", "not older than"],
)
@pytest.mark.usefixtures("virtual_time")
async def test_a_revision_of_the_future_times_out(api: Api, query: str) -> None:
    reply = await api.get(f"{CONFIG_MAPS}?{query}")
    assert (reply.code, reply.reason) == (504, "Timeout")
    assert reply.message.startswith("Timeout: Too large resource version: 999999, current: ")
    assert reply.causes == [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    assert reply.body["details"]["retryAfterSeconds"] == 1
    assert (b"Retry-After", b"1") in reply.response.headers


async def test_an_exact_revision_of_the_future_is_too_large(api: Api) -> None:
    reply = await api.get(f"{CONFIG_MAPS}?resourceVersion=999999&resourceVersionMatch=Exact")
    assert (reply.code, reply.reason) == (504, "Timeout")
    assert reply.body["details"]["retryAfterSeconds"] == 1
    assert reply.causes[0]["reason"] == "ResourceVersionTooLarge"


async def test_an_exact_revision_that_was_compacted_is_expired(api: Api) -> None:
    created = await some_config_maps(api, 3)
    await compacted(api)
    revision = created[0]["metadata"]["resourceVersion"]
    reply = await api.get(f"{CONFIG_MAPS}?resourceVersion={revision}&resourceVersionMatch=Exact")
    assert (reply.code, reply.reason) == (410, "Expired")
    assert reply.message == "The resourceVersion for the provided list is too old."


async def compacted(api: Api) -> None:
    """Forget the past."""
    await api.cluster.store.compact(await api.cluster.store.revision())


@pytest.mark.parametrize("revision", ["abc", "-1", "1.5", "99999999999999999999"])
async def test_an_unreadable_revision_is_refused(api: Api, revision: str) -> None:
    reply = await api.get(f"{CONFIG_MAPS}?resourceVersion={revision}")
    assert (reply.code, reply.reason) == (400, "BadRequest")
    assert reply.message.startswith("invalid resource version")


@pytest.mark.parametrize(
    ("query", "field", "text"),
    [
        (
            "resourceVersionMatch=Exact",
            "resourceVersionMatch",
            "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            "resourceVersionMatch=Exact&resourceVersion=5&continue=abc",
            "resourceVersionMatch",
            "Forbidden: resourceVersionMatch is forbidden when continue is provided",
        ),
        (
            "resourceVersionMatch=Exact&resourceVersion=0",
            "resourceVersionMatch",
            'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        (
            "resourceVersionMatch=Odd&resourceVersion=1",
            "resourceVersionMatch",
            'Unsupported value: "Odd": supported values: "Exact", "NotOlderThan", ""',
        ),
        ("sendInitialEvents=true", "sendInitialEvents", "Forbidden: sendInitialEvents is forbidden for list"),
    ],
)
async def test_revision_match_rules(api: Api, query: str, field: str, text: str) -> None:
    reply = await api.get(f"{CONFIG_MAPS}?{query}")
    assert (reply.code, reply.reason) == (422, "Invalid")
    assert reply.body["details"]["kind"] == "ListOptions"
    assert [(c["field"], c["message"]) for c in reply.causes] == [(field, text)]
    assert reply.message == f'ListOptions.meta.k8s.io "" is invalid: {field}: {text}'


async def test_pages_show_one_revision(api: Api) -> None:
    await some_config_maps(api, 5)
    first = (await api.get(f"{CONFIG_MAPS}?limit=2")).body
    await api.create(CONFIG_MAPS, config_map("cm-9"))
    await api.delete(f"{CONFIG_MAPS}/cm-4")
    second = (await api.get(f"{CONFIG_MAPS}?limit=2&continue={first['metadata']['continue']}")).body
    third = (await api.get(f"{CONFIG_MAPS}?limit=7&continue={second['metadata']['continue']}")).body
    assert names(first) + names(second) + names(third) == [f"cm-{i}" for i in range(5)]
    assert {page["metadata"]["resourceVersion"] for page in (first, second, third)} == {
        first["metadata"]["resourceVersion"]
    }


async def test_remaining_items_are_counted_but_on_the_last_page(api: Api) -> None:
    await some_config_maps(api, 5)
    first = (await api.get(f"{CONFIG_MAPS}?limit=2")).body
    assert first["metadata"]["remainingItemCount"] == 3
    last = (await api.get(f"{CONFIG_MAPS}?limit=3&continue={first['metadata']['continue']}")).body
    assert last["metadata"].keys() == {"resourceVersion"}


@pytest.mark.parametrize("selector", ["labelSelector=n=0", "fieldSelector=metadata.namespace=default"])
async def test_remaining_items_are_not_counted_with_a_selector(api: Api, selector: str) -> None:
    await some_config_maps(api, 5)
    first = (await api.get(f"{CONFIG_MAPS}?limit=2&{selector}")).body
    assert first["metadata"].keys() == {"resourceVersion", "continue"}


async def test_pages_count_what_matches(api: Api) -> None:
    await some_config_maps(api, 6)
    first = (await api.get(f"{CONFIG_MAPS}?limit=2&labelSelector=n=1")).body
    second = (await api.get(f"{CONFIG_MAPS}?limit=2&labelSelector=n=1&continue={first['metadata']['continue']}")).body
    assert (names(first), names(second)) == (["cm-1", "cm-3"], ["cm-5"])


async def test_a_continue_token_is_the_key_behind_the_page(api: Api) -> None:
    await some_config_maps(api, 2)
    text = (await api.get(f"{CONFIG_MAPS}?limit=1")).metadata["continue"]
    decoded = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    assert decoded["v"] == "meta.k8s.io/v1"
    assert decoded["start"] == "cm-0\0"


async def test_an_expired_continue_token_comes_with_another(api: Api) -> None:
    await some_config_maps(api, 4)
    first = (await api.get(f"{CONFIG_MAPS}?limit=2")).body
    await api.create(CONFIG_MAPS, config_map("cm-25"))
    await compacted(api)
    reply = await api.get(f"{CONFIG_MAPS}?limit=2&continue={first['metadata']['continue']}")
    assert (reply.code, reply.reason) == (410, "Expired")
    assert reply.message.startswith("The provided continue parameter is too old to display a consistent list result.")
    rest = (await api.get(f"{CONFIG_MAPS}?limit=10&continue={reply.metadata['continue']}")).body
    assert names(rest) == ["cm-2", "cm-25", "cm-3"]


async def test_continue_excludes_a_revision(api: Api) -> None:
    await some_config_maps(api, 2)
    text = (await api.get(f"{CONFIG_MAPS}?limit=1")).metadata["continue"]
    reply = await api.get(f"{CONFIG_MAPS}?limit=1&resourceVersion=5&continue={text}")
    assert (reply.code, reply.reason) == (400, "BadRequest")
    assert reply.message == "specifying resource version is not allowed when using continue"
    assert (await api.get(f"{CONFIG_MAPS}?limit=1&resourceVersion=0&continue={text}")).code == 200


@pytest.mark.parametrize(
    "text",
    [
        "abc",
        "%25%25%25",
        token(0, "cm-0"),
        token(5, ""),
        token(5, "../../secrets"),
        token(5, "a/../b"),
        token(5, "cm-0", "v2"),
        base64.urlsafe_b64encode(b"[]").decode().rstrip("="),
        base64.urlsafe_b64encode(b'{"v":1}').decode().rstrip("="),
    ],
)
async def test_a_bad_continue_token_is_refused(api: Api, text: str) -> None:
    await some_config_maps(api, 2)
    reply = await api.get(f"{CONFIG_MAPS}?limit=1&continue={text}")
    assert (reply.code, reply.reason) == (400, "BadRequest")
    assert reply.message.startswith("invalid continue token")


@pytest.mark.parametrize("limit", ["-1", "0"])
async def test_no_limit(api: Api, limit: str) -> None:
    await some_config_maps(api, 2)
    assert len((await api.get(f"{CONFIG_MAPS}?limit={limit}")).body["items"]) == 2


@pytest.mark.parametrize("limit", ["abc", "1.5", "99999999999999999999"])
async def test_a_limit_that_is_no_number_is_refused(api: Api, limit: str) -> None:
    reply = await api.get(f"{CONFIG_MAPS}?limit={limit}")
    assert (reply.code, reply.reason) == (400, "BadRequest")


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("n=0", ["cm-0", "cm-2"]),
        ("n==0", ["cm-0", "cm-2"]),
        ("n!=0", ["cm-1", "plain"]),
        ("n", ["cm-0", "cm-1", "cm-2"]),
        ("!n", ["plain"]),
        ("n in (1,5)", ["cm-1"]),
        ("n notin (1)", ["cm-0", "cm-2", "plain"]),
        ("n=0,n=1", []),
        ("", ["cm-0", "cm-1", "cm-2", "plain"]),
    ],
)
async def test_label_selectors(api: Api, selector: str, expected: list[str]) -> None:
    await some_config_maps(api, 3)
    await api.create(CONFIG_MAPS, config_map("plain"))
    text = selector.replace(" ", "%20")
    assert names((await api.get(f"{CONFIG_MAPS}?labelSelector={text}")).body) == expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("metadata.name=cm-1", ["cm-1"]),
        ("metadata.name==cm-1", ["cm-1"]),
        ("metadata.name!=cm-1", ["cm-0", "cm-2"]),
        ("metadata.namespace=default", ["cm-0", "cm-1", "cm-2"]),
        ("metadata.namespace=other", []),
        ("metadata.name=cm-1,metadata.namespace=other", []),
        ("metadata.name=cm-1,metadata.name=cm-2", []),
        ("metadata.name=absent", []),
    ],
)
async def test_field_selectors(api: Api, selector: str, expected: list[str]) -> None:
    await some_config_maps(api, 3)
    assert names((await api.get(f"{CONFIG_MAPS}?fieldSelector={selector}")).body) == expected
    assert names((await api.get(f"/api/v1/configmaps?fieldSelector={selector}")).body) == expected


@pytest.mark.parametrize("text", ["n=(", "n in 1", "a b", "=x", "n in (", "-bad-=x"])
async def test_a_bad_label_selector_is_refused(api: Api, text: str) -> None:
    reply = await api.get(f"{CONFIG_MAPS}?labelSelector={text.replace(' ', '%20')}")
    assert (reply.code, reply.reason) == (400, "BadRequest")
    assert reply.message


@pytest.mark.parametrize("text", ["spec.x", "a in (b)", "metadata.name"])
async def test_a_bad_field_selector_is_refused(api: Api, text: str) -> None:
    reply = await api.get(f"{CONFIG_MAPS}?fieldSelector={text.replace(' ', '%20')}")
    assert (reply.code, reply.reason) == (400, "BadRequest")


@pytest.mark.parametrize(
    "path",
    ["/apis/certificates.k8s.io/v1/certificatesigningrequests", "/apis/resource.k8s.io/v1/resourceslices"],
)
async def test_cluster_scoped_objects_have_no_namespace_selector(api: Api, path: str) -> None:
    reply = await api.get(f"{path}?fieldSelector=metadata.namespace=x")
    assert (reply.code, reply.message) == (400, "field label not supported: metadata.namespace")


async def test_an_unsupported_field_is_named(api: Api) -> None:
    reply = await api.get(f"{PODS}?fieldSelector=spec.nope=1")
    assert (reply.code, reply.message) == (400, "field label not supported: spec.nope")


async def test_pods_by_phase(api: Api) -> None:
    await api.create(PODS, pod())
    assert names((await api.get(f"{PODS}?fieldSelector=status.phase=Pending")).body) == ["p"]
    assert names((await api.get(f"{PODS}?fieldSelector=status.phase!=Pending")).body) == []


async def test_custom_resources_by_name(api: Api) -> None:
    await with_widgets(api)
    await api.create(WIDGETS, widget())
    assert names((await api.get(f"{WIDGETS}?fieldSelector=metadata.name=w")).body) == ["w"]


async def test_get_at_a_revision(api: Api) -> None:
    created = (await some_config_maps(api, 1))[0]
    revision = created["metadata"]["resourceVersion"]
    for query in ("", "?resourceVersion=0", f"?resourceVersion={revision}", "?resourceVersion="):
        assert (await api.get(f"{CONFIG_MAPS}/cm-0{query}")).body == created


@pytest.mark.usefixtures("virtual_time")
async def test_get_of_the_future_times_out(api: Api) -> None:
    await some_config_maps(api, 1)
    reply = await api.get(f"{CONFIG_MAPS}/cm-0?resourceVersion=999999")
    assert (reply.code, reply.causes[0]["reason"]) == (504, "ResourceVersionTooLarge")


@pytest.mark.parametrize("match", ["", "&resourceVersionMatch=Exact", "&resourceVersionMatch=NotOlderThan"])
@pytest.mark.parametrize("target", [CONFIG_MAPS, WIDGETS, "/api/v1/nodes"])
@pytest.mark.usefixtures("virtual_time")
async def test_a_list_of_a_future_revision_returns_when_to_retry(api: Api, target: str, match: str) -> None:
    await with_widgets(api)
    reply = await api.get(f"{target}?resourceVersion=999999{match}")
    assert (reply.code, reply.body["details"]["retryAfterSeconds"]) == (504, 1)
    assert (b"Retry-After", b"1") in reply.response.headers


async def test_flow_schemas_are_shown_in_the_order_in_which_they_match(api: Api) -> None:
    target = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
    for name, precedence in (("a", 900), ("b", 5), ("c", 5)):
        spec = {"priorityLevelConfiguration": {"name": "exempt"}, "matchingPrecedence": precedence}
        await api.create(target, {"metadata": {"name": name}, "spec": spec})
    await api.create(target, {"metadata": {"name": "d"}, "spec": {"priorityLevelConfiguration": {"name": "exempt"}}})
    rows = (await api.get(target, accept=TABLE)).body["rows"]
    shown = [(row["cells"][0], row["object"]["metadata"]["name"]) for row in rows if row["cells"][0] in "abcd"]
    assert shown == [(name, name) for name in "bcad"]
    assert [row["cells"][2] for row in rows] == sorted(row["cells"][2] for row in rows)


async def test_get_of_nothing(api: Api) -> None:
    reply = await api.get("/apis/apps/v1/namespaces/default/deployments/x")
    assert (reply.code, reply.reason) == (404, "NotFound")
    assert reply.message == 'deployments.apps "x" not found'
    assert reply.body["details"] == {"name": "x", "group": "apps", "kind": "deployments"}


async def test_a_table_of_a_list(api: Api) -> None:
    await some_config_maps(api, 2)
    table = (await api.get(CONFIG_MAPS, accept=TABLE)).body
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert [c["name"] for c in table["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert table["rows"][0]["cells"][:2] == ["cm-0", 1]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    assert table["metadata"].keys() == {"resourceVersion"}


@pytest.mark.parametrize(
    ("policy", "kind"),
    [("None", None), ("", "PartialObjectMetadata"), ("Metadata", "PartialObjectMetadata"), ("Object", "ConfigMap")],
)
async def test_a_table_includes_objects_as_requested(api: Api, policy: str, kind: str | None) -> None:
    await some_config_maps(api, 1)
    table = (await api.get(f"{CONFIG_MAPS}?includeObject={policy}", accept=TABLE)).body
    assert (table["rows"][0].get("object") or {}).get("kind") == kind


async def test_a_table_of_one_object(api: Api) -> None:
    await some_config_maps(api, 1)
    table = (await api.get(f"{CONFIG_MAPS}/cm-0", accept=TABLE)).body
    assert [row["cells"][0] for row in table["rows"]] == ["cm-0"]


async def test_an_unknown_table_policy_is_refused(api: Api) -> None:
    reply = await api.get(f"{CONFIG_MAPS}?includeObject=All", accept=TABLE)
    assert (reply.code, reply.reason) == (400, "BadRequest")
    assert "Invalid value: \"All\": must be 'Metadata', 'Object', 'None', or empty" in reply.message


@pytest.mark.parametrize("names", ["cm-0,metadata.name=cm-1", "cm-1,metadata.name=cm-0", "cm-0,metadata.name==cm-0"])
async def test_a_name_that_is_selected_twice_is_no_error(api: Api, names: str) -> None:
    await some_config_maps(api, 2)
    reply = await api.get(f"{CONFIG_MAPS}?fieldSelector={quote(f'metadata.name={names}')}")
    expected = ["cm-0"] if names.endswith("==cm-0") else []
    assert (reply.code, [item["metadata"]["name"] for item in reply.body["items"]]) == (200, expected)


@pytest.mark.parametrize(
    ("value", "code"), [("true", 400), ("1", 400), ("", 400), ("x", 400), ("false", 200), ("False", 200), ("0", 200)]
)
async def test_an_object_is_not_exported(api: Api, value: str, code: int) -> None:
    await some_config_maps(api, 1)
    reply = await api.get(f"{CONFIG_MAPS}/cm-0?export={value}")
    assert (reply.code, "no longer supported" in reply.message if code == 400 else True) == (code, True)


async def test_metadata_of_a_list(api: Api) -> None:
    await some_config_maps(api, 1)
    found = (await api.get(CONFIG_MAPS, accept=PARTIAL_LIST)).body
    assert (found["kind"], found["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    assert found["items"][0].keys() <= {"kind", "apiVersion", "metadata"}


@pytest.mark.parametrize(
    ("path", "accept"), [(CONFIG_MAPS, PARTIAL), (f"{CONFIG_MAPS}/cm-0", PARTIAL_LIST)], ids=["list", "object"]
)
async def test_the_form_of_metadata_must_fit(api: Api, path: str, accept: str) -> None:
    await some_config_maps(api, 1)
    reply = await api.get(path, accept=accept)
    assert (reply.code, reply.reason) == (406, "NotAcceptable")


@pytest.mark.parametrize("accept", ["text/html", "application/cbor", "application/json;as=Table;v=v9;g=x"])
async def test_nothing_acceptable(api: Api, accept: str) -> None:
    reply = await api.get(CONFIG_MAPS, accept=accept)
    assert (reply.code, reply.reason) == (406, "NotAcceptable")
    assert "application/json, application/yaml, application/vnd.kubernetes.protobuf" in reply.message


async def test_yaml_of_a_list(api: Api) -> None:
    await some_config_maps(api, 1)
    reply = await api.get(CONFIG_MAPS, accept="application/yaml")
    assert reply.response.content_type == "application/yaml"
    assert b"kind: ConfigMapList\n" in reply.response.body


@pytest.mark.parametrize(("query", "lines"), [("?pretty=true", True), ("?pretty=false", False), ("", False)])
async def test_pretty(api: Api, query: str, lines: bool) -> None:
    reply = await api.get(f"{CONFIG_MAPS}{query}")
    assert (b"\n  " in reply.response.body) is lines


async def test_curl_gets_it_pretty(api: Api) -> None:
    reply = await api.client.get(CONFIG_MAPS, user_agent="curl/8")
    assert b"\n  " in reply.body


async def test_kept_list_bodies_follow_writes(api: Api) -> None:
    await some_config_maps(api, 1)
    first = await api.get(CONFIG_MAPS)
    again = await api.get(CONFIG_MAPS)
    await api.create(CONFIG_MAPS, config_map("z"))
    assert first.body == again.body
    assert names((await api.get(CONFIG_MAPS)).body) == ["cm-0", "z"]
