"""PATCH by JSON patch, merge patch and strategic merge patch.

Source: apiserver pkg/endpoints/handlers/patch.go (1.36).
"""

import asyncio
from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.verbs.objects import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    WIDGETS,
    config_map,
    deployment,
    pod,
    some_config_maps,
    widget,
    with_widgets,
)

KINDS = ("json", "merge", "strategic")


def setting(kind: str, path: str, value: Any) -> Any:
    """A patch of one kind that sets one value (`/a/b`)."""
    if kind == "json":
        return [{"op": "add", "path": path, "value": value}]
    body: Any = value
    for name in reversed(path.split("/")[1:]):
        body = {name: body}
    return body


@pytest.mark.parametrize("kind", KINDS)
async def test_a_patch(api: Api, kind: str) -> None:
    await some_config_maps(api, 1)
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", setting(kind, "/data/new", "1"), kind)
    assert (response.code, response.body["data"]) == (200, {"k": "v", "new": "1"})


@pytest.mark.parametrize(
    ("content_type", "custom"),
    [
        ("application/json", False),
        ("text/plain", False),
        ("", False),
        ("application/apply-patch+json", False),
        ("application/strategic-merge-patch+json", True),
    ],
)
async def test_a_patch_of_another_type_is_refused(api: Api, content_type: str, custom: bool) -> None:
    await with_widgets(api)
    await some_config_maps(api, 1)
    await api.create(WIDGETS, widget())
    path = f"{WIDGETS}/w" if custom else f"{CONFIG_MAPS}/cm-0"
    response = await api.patch(path, {}, content_type)
    assert (response.code, response.reason) == (415, "UnsupportedMediaType")
    assert response.message == (
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "
        "application/merge-patch+json, application/apply-patch+yaml"
        if custom
        else "415: Unsupported Media Type"
    )


async def test_parameters_of_the_type_do_not_matter(api: Api) -> None:
    await some_config_maps(api, 1)
    response = await api.patch(
        f"{CONFIG_MAPS}/cm-0", {"data": {"k": "1"}}, "application/merge-patch+json; charset=utf-8"
    )
    assert response.code == 200


@pytest.mark.parametrize("kind", KINDS)
async def test_a_patch_of_nothing(api: Api, kind: str) -> None:
    response = await api.patch(f"{CONFIG_MAPS}/absent", setting(kind, "/data/k", "1"), kind)
    assert (response.code, response.message) == (404, 'configmaps "absent" not found')


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("/metadata/name", "b", "the name of the object (b) does not match the name on the URL (cm-0)"),
        (
            "/metadata/namespace",
            "b",
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
async def test_identity_cannot_be_patched(api: Api, kind: str, path: str, value: str, text: str) -> None:
    await some_config_maps(api, 1)
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", setting(kind, path, value), kind)
    assert (response.code, response.reason, response.message) == (400, "BadRequest", text)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_revision_in_the_patch_locks(api: Api, kind: str) -> None:
    created = (await some_config_maps(api, 1))[0]
    stale = await api.patch(f"{CONFIG_MAPS}/cm-0", setting(kind, "/metadata/resourceVersion", "1"), kind)
    assert (stale.code, stale.reason) == (409, "Conflict")
    assert stale.message == (
        'Operation cannot be fulfilled on configmaps "cm-0": the object has been modified; please apply your changes '
        "to the latest version and try again"
    )
    revision = created["metadata"]["resourceVersion"]
    fresh = await api.patch(f"{CONFIG_MAPS}/cm-0", setting(kind, "/metadata/resourceVersion", revision), kind)
    assert fresh.code == 200


async def test_patches_at_the_same_time_all_count(api: Api) -> None:
    await some_config_maps(api, 1)
    responses = await asyncio.gather(*(api.patch(f"{CONFIG_MAPS}/cm-0", {"data": {f"k{i}": "1"}}) for i in range(20)))
    assert {a.code for a in responses} == {200}
    assert len((await api.get(f"{CONFIG_MAPS}/cm-0")).body["data"]) == 21


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", 400),
        (b"{", 400),
        (b"{}", 400),
        (b'"x"', 400),
        (b"[1]", 400),
        (b'[{"op":"add"}]', 422),
        (b'[{"op":"odd","path":"/data/k"}]', 422),
        (b'[{"op":"test","path":"/data/k","value":"other"}]', 422),
        (b'[{"op":"remove","path":"/data/absent"}]', 422),
        (b'[{"op":"replace","path":"/data/a/b","value":1}]', 422),
        (b'[{"op":"move","path":"/data/n"}]', 422),
        (b'[{"op":"add","path":"","value":[]}]', 422),
    ],
)
async def test_bad_json_patches(api: Api, body: bytes, code: int) -> None:
    created = (await some_config_maps(api, 1))[0]
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", body, "json")
    assert (response.code, response.body["status"]) == (code, "Failure"), response.body
    assert response.reason == ("BadRequest" if code == 400 else "Invalid")
    assert (await api.get(f"{CONFIG_MAPS}/cm-0")).body == created


async def test_a_failing_operation_has_no_kind(api: Api) -> None:
    await some_config_maps(api, 1)
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", b'[{"op":"remove","path":"/data/absent"}]', "json")
    assert response.message.startswith("the server rejected our request due to an error in our request")
    assert response.body["details"] == {}


async def test_too_many_operations(api: Api) -> None:
    await some_config_maps(api, 1)
    operation = {"op": "test", "path": "/data/k", "value": "v"}
    assert (await api.patch(f"{CONFIG_MAPS}/cm-0", [operation] * 10_000, "json")).code == 200
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", [operation] * 10_001, "json")
    assert (response.code, response.reason) == (413, "RequestEntityTooLarge")
    assert response.message == (
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001"
    )


async def test_copies_are_bounded(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map() | {"data": {"k": "x" * 100_000}})
    copies = [{"op": "copy", "from": "/data", "path": f"/data/c{i}"} for i in range(200)]
    assert (await api.patch(f"{CONFIG_MAPS}/a", copies, "json")).code in (413, 422)


async def test_null_is_no_merge_patch_and_an_empty_strategic_one(api: Api) -> None:
    await some_config_maps(api, 1)
    refused = await api.patch(f"{CONFIG_MAPS}/cm-0", b"null", "merge")
    assert (refused.code, refused.message) == (400, "Invalid JSON Patch")
    assert (await api.patch(f"{CONFIG_MAPS}/cm-0", b"null", "strategic")).code == 200


@pytest.mark.parametrize("kind", ["merge", "strategic"])
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"1"])
async def test_bad_merge_patches(api: Api, kind: str, body: bytes) -> None:
    created = (await some_config_maps(api, 1))[0]
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", body, kind)
    assert response.code in (400, 422), response.body
    assert response.reason in ("BadRequest", "Invalid")
    assert (await api.get(f"{CONFIG_MAPS}/cm-0")).body == created


async def test_merge_patch_replaces_lists(api: Api) -> None:
    await api.create(PODS, pod())
    response = await api.patch(f"{PODS}/p", {"spec": {"tolerations": [{"key": "a", "operator": "Exists"}]}})
    assert response.code == 200
    assert [t["key"] for t in response.body["spec"]["tolerations"] if t["key"] == "a"] == ["a"]


async def test_strategic_merge_patch_merges_lists_by_key(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment())
    container = {"name": "c", "env": [{"name": "A", "value": "1"}]}
    patch = {"spec": {"template": {"spec": {"containers": [container, {"name": "d", "image": "j"}]}}}}
    containers = (await api.patch(f"{DEPLOYMENTS}/d", patch, "strategic")).body["spec"]["template"]["spec"][
        "containers"
    ]
    assert {c["name"]: c["image"] for c in containers} == {"c": "i", "d": "j"}
    gone = {"spec": {"template": {"spec": {"containers": [{"name": "d", "$patch": "delete"}]}}}}
    containers = (await api.patch(f"{DEPLOYMENTS}/d", gone, "strategic")).body["spec"]["template"]["spec"]["containers"]
    assert [c["name"] for c in containers] == ["c"]


@pytest.mark.parametrize(
    ("patch", "codes"),
    [
        ({"metadata": {"labels": {"$patch": "dropped"}}}, (200,)),
        ({"metadata": {"$deleteFromPrimitiveList/finalizers": 5}}, (200,)),
        ({"spec": {"template": {"spec": {"containers": {"a": 1}}}}}, (400, 422)),
        ({"spec": {"$retainKeys": "x"}}, (400, 422)),
    ],
)
async def test_bad_directives(api: Api, patch: Any, codes: tuple[int, ...]) -> None:
    await api.create(DEPLOYMENTS, deployment())
    response = await api.patch(f"{DEPLOYMENTS}/d", patch, "strategic")
    assert response.code in codes, response.body


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        (
            {"containers": [{"image": "x"}]},
            "map: map[image:x] does not contain declared merge key: name",
        ),
        ({"$setElementOrder/containers": "x"}, "$setElementOrder/containers must be a list, but its type is string"),
    ],
)
async def test_some_bad_patches_fall_through_as_in_kubernetes(api: Api, patch: Any, message: str) -> None:
    created = await api.create(DEPLOYMENTS, deployment())
    response = await api.patch(f"{DEPLOYMENTS}/d", {"spec": {"template": {"spec": patch}}}, "strategic")
    assert (response.code, response.reason, response.message) == (500, "", message)
    assert (await api.get(f"{DEPLOYMENTS}/d")).body == created


@pytest.mark.parametrize("kind", KINDS)
async def test_unknown_fields_of_a_patch(api: Api, kind: str) -> None:
    await some_config_maps(api, 1)
    body = setting(kind, "/odd", 1)
    warned = await api.patch(f"{CONFIG_MAPS}/cm-0", body, kind)
    assert (warned.code, warned.warnings) == (200, ['unknown field "odd"'])
    ignored = await api.patch(f"{CONFIG_MAPS}/cm-0?fieldValidation=Ignore", body, kind)
    assert (ignored.code, ignored.warnings) == (200, [])
    refused = await api.patch(f"{CONFIG_MAPS}/cm-0?fieldValidation=Strict", body, kind)
    assert (refused.code, refused.reason) == (422, "Invalid")
    assert 'strict decoding error: unknown field "odd"' in refused.message


@pytest.mark.parametrize("kind", ["merge", "strategic"])
async def test_duplicate_fields_of_a_patch(api: Api, kind: str) -> None:
    await some_config_maps(api, 1)
    body = b'{"data":{"a":"1","a":"2"}}'
    warned = await api.patch(f"{CONFIG_MAPS}/cm-0", body, kind)
    assert (warned.code, warned.warnings) == (200, ['duplicate field "data.a"'])
    refused = await api.patch(f"{CONFIG_MAPS}/cm-0?fieldValidation=Strict", body, kind)
    assert refused.code in (400, 422)
    assert 'duplicate field "data.a"' in refused.message


@pytest.mark.parametrize("kind", KINDS)
async def test_wrong_types_of_a_patch(api: Api, kind: str) -> None:
    created = (await some_config_maps(api, 1))[0]
    response = await api.patch(f"{CONFIG_MAPS}/cm-0", setting(kind, "/data", {"k": 1}), kind)
    assert response.code in (400, 422)
    assert (await api.get(f"{CONFIG_MAPS}/cm-0")).body == created


async def test_force_is_for_apply_alone(api: Api) -> None:
    await some_config_maps(api, 1)
    response = await api.patch(f"{CONFIG_MAPS}/cm-0?force=true", {})
    assert (response.code, response.message) == (
        422,
        'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    )


async def test_a_patch_of_an_unwritable_field_changes_nothing(api: Api) -> None:
    created = await api.create(DEPLOYMENTS, deployment())
    response = await api.patch(f"{DEPLOYMENTS}/d", {"status": {"replicas": 4}})
    assert (response.code, response.body) == (200, created)


async def test_immutable_fields(api: Api) -> None:
    await api.create(DEPLOYMENTS, deployment())
    response = await api.patch(f"{DEPLOYMENTS}/d", {"spec": {"selector": {"matchLabels": {"x": "y"}}}})
    assert response.code == 422
    assert any(c["field"] == "spec.selector" for c in response.causes)


@pytest.mark.parametrize("kind", ["json", "merge"])
async def test_custom_resources(api: Api, kind: str) -> None:
    await with_widgets(api)
    await api.create(WIDGETS, widget())
    response = await api.patch(f"{WIDGETS}/w", setting(kind, "/spec/size", 4), kind)
    assert (response.code, response.body["spec"]["size"]) == (200, 4)
    refused = await api.patch(f"{WIDGETS}/w", setting(kind, "/spec/size", -4), kind)
    assert (refused.code, refused.causes[0]["field"]) == (422, "spec.size")
    other = await api.patch(f"{WIDGETS}/w", setting(kind, "/spec/size", "x"), kind)
    assert other.code == 422


async def test_an_unknown_field_of_an_operation_is_refused_when_strict(api: Api) -> None:
    await api.post(CONFIG_MAPS, config_map())
    patch = [{"op": "add", "path": "/data/x", "value": "1", "why": "?"}]
    response = await api.patch(f"{CONFIG_MAPS}/a?fieldValidation=Strict", patch, "json")
    assert response.code == 422
    assert 'json patch unknown field "[0].why"' in response.message


async def test_strict_errors_of_a_json_patch_are_in_the_order_of_its_operations(api: Api) -> None:
    await api.post(CONFIG_MAPS, config_map())
    patch = b"""[
        {"op":"add","path":"/unknown","value":"1","why":"?"},
        {"op":"add","path":"/b","path":"/data/x","value":"1"},
        {"op":"add","path":"/data/y","value":"1","what":"?"}
    ]"""
    response = await api.fetch(
        "PATCH", f"{CONFIG_MAPS}/a?fieldValidation=Strict", patch, content_type="application/json-patch+json"
    )
    assert (
        'strict decoding error: json patch unknown field "[0].why", json patch duplicate field "[1].path", '
        'json patch unknown field "[2].what", unknown field "unknown"' in response.message
    )


async def test_an_applied_null_in_a_map_of_strings_is_the_empty_string(api: Api) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": None}}
    response = await api.patch(f"{CONFIG_MAPS}/a?fieldManager=m", config, "application/apply-patch+yaml")
    assert (response.code, response.body["data"]) == (201, {"k": ""})
