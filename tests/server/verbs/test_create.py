"""POST: the server's decisions, refusals and answers.

Source: apiserver pkg/endpoints/handlers/create.go, pkg/registry/rest/create.go (1.36).
"""

import re
from typing import Any

import pytest

from sampan.registry.write import creation
from tests.server.cluster import Api
from tests.server.verbs.objects import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    WIDGETS,
    config_map,
    deployment,
    pod,
    with_widgets,
)


async def test_the_stored_object_is_returned(api: Api) -> None:
    response = await api.post(CONFIG_MAPS, config_map())
    assert response.code == 201
    assert response.body == (await api.get(f"{CONFIG_MAPS}/a")).body
    assert response.metadata["namespace"] == "default"


@pytest.mark.parametrize(
    ("path", "obj", "kind"),
    [(CONFIG_MAPS, config_map(), "ConfigMap"), (DEPLOYMENTS, deployment(), "Deployment.apps")],
    ids=["core", "apps"],
)
async def test_finalizers_have_a_domain_or_are_kubernetes_own(api: Api, path: str, obj: Any, kind: str) -> None:
    metadata = obj["metadata"] | {"finalizers": ["orphan", "a.b/c", "mine"]}
    response = await api.post(path, obj | {"metadata": metadata})
    assert response.message == (
        f'{kind} "{metadata["name"]}" is invalid: metadata.finalizers[2]: Invalid value: "mine": name is neither a '
        "standard finalizer name nor is it fully qualified"
    )


@pytest.mark.parametrize(
    ("path", "obj"),
    [
        ("/apis/coordination.k8s.io/v1/namespaces/default/leases", {"metadata": {"name": "a"}}),
        ("/apis/policy/v1/namespaces/default/poddisruptionbudgets", {"metadata": {"name": "a"}, "spec": {}}),
    ],
    ids=["leases", "poddisruptionbudgets"],
)
async def test_finalizers_of_some_kinds_have_any_name(api: Api, path: str, obj: Any) -> None:
    obj = obj | {"metadata": obj["metadata"] | {"finalizers": ["mine"]}}
    assert (await api.post(path, obj)).code == 201


async def test_faults_of_events_are_notified_of_the_core_kind(api: Api) -> None:
    response = await api.post("/apis/events.k8s.io/v1/namespaces/default/events", {"metadata": {"name": "-"}})
    assert response.message.startswith('Event "-" is invalid: ')
    assert "group" not in response.body["details"]


async def test_a_taken_name(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    response = await api.post(CONFIG_MAPS, config_map())
    assert (response.code, response.reason) == (409, "AlreadyExists")
    assert response.message == 'configmaps "a" already exists'
    assert response.body["details"] == {"name": "a", "kind": "configmaps"}


async def test_the_server_gives_identity(api: Api) -> None:
    sent = deployment()
    sent["metadata"] |= {
        "uid": "mine",
        "creationTimestamp": "2001-01-01T00:00:00Z",
        "generation": 7,
        "selfLink": "/x",
        "deletionTimestamp": "2001-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 3,
    }
    sent["status"] = {"replicas": 5}
    made = await api.create(DEPLOYMENTS, sent)
    metadata = made["metadata"]
    assert re.fullmatch(r"[0-9a-f-]{36}", metadata["uid"])
    assert re.fullmatch(r"20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", metadata["creationTimestamp"])
    assert metadata["generation"] == 1
    assert metadata["resourceVersion"].isdigit()
    assert not metadata.keys() & {"selfLink", "deletionTimestamp", "deletionGracePeriodSeconds"}
    assert not made.get("status")


async def test_a_resource_version_is_refused(api: Api) -> None:
    response = await api.post(CONFIG_MAPS, config_map(resourceVersion="5"))
    assert response.code == 500
    assert response.reason == ""
    assert response.message == "resourceVersion should not be set on objects to be created"


@pytest.mark.parametrize("version", ["0", "abc", "-1", "00", "18446744073709551616"])
async def test_a_resource_version_that_is_no_revision_is_ignored(api: Api, version: str) -> None:
    response = await api.post(CONFIG_MAPS, config_map(resourceVersion=version))
    assert response.code == 201
    assert response.metadata["resourceVersion"] not in (version, "")


LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/a"


@pytest.mark.parametrize("method", ["PUT", "apply"])
@pytest.mark.parametrize(("version", "code"), [("5", 201), ("0", 201), ("", 201), ("abc", 500), ("-1", 500)])
async def test_an_update_that_creates_ignores_the_revision_of_another_cluster(
    api: Api, method: str, version: str, code: int
) -> None:
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "a", "resourceVersion": version},
    }
    response = await (api.apply(LEASE, lease) if method == "apply" else api.put(LEASE, lease))
    assert response.code == code
    stored = await api.get(LEASE)
    assert (stored.code, code == 500 or stored.metadata["resourceVersion"] != version) == (
        200 if code == 201 else 404,
        True,
    )


async def test_an_applied_object_of_another_cluster_is_created(api: Api) -> None:
    exported = config_map(resourceVersion="12345")
    response = await api.apply(
        f"{CONFIG_MAPS}/{exported['metadata']['name']}", {"apiVersion": "v1", "kind": "ConfigMap", **exported}
    )
    assert (response.code, response.metadata["resourceVersion"] != "12345") == (201, True)


async def test_another_namespace_is_refused(api: Api) -> None:
    response = await api.post(CONFIG_MAPS, config_map(namespace="other"))
    assert (response.code, response.reason) == (400, "BadRequest")
    assert response.message == "the namespace of the provided object does not match the namespace sent on the request"


async def test_another_version_is_refused(api: Api) -> None:
    response = await api.post(DEPLOYMENTS, deployment() | {"apiVersion": "apps/v1beta1"})
    assert (response.code, response.reason) == (400, "BadRequest")
    assert response.message == (
        "the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)"
    )


async def test_another_kind_is_refused(api: Api) -> None:
    response = await api.post(CONFIG_MAPS, config_map() | {"kind": "Secret"})
    assert (response.code, response.reason) == (400, "BadRequest")
    assert response.message.startswith('Secret in version "v1" cannot be handled as a ConfigMap')


async def test_the_type_of_a_builtin_may_be_left_out(api: Api) -> None:
    made = await api.create(CONFIG_MAPS, {"metadata": {"name": "a"}})
    assert (made["apiVersion"], made["kind"]) == ("v1", "ConfigMap")


async def test_the_type_of_a_custom_resource_may_not(api: Api) -> None:
    await with_widgets(api)
    response = await api.post(WIDGETS, b'{"apiVersion":"example.com/v1"}')
    assert (response.code, response.message) == (
        400,
        "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in "
        '\'{"apiVersion":"example.com/v1"}\' ({"apiVersion":"example.com/v1" ...)',
    )
    response = await api.post(WIDGETS, {"kind": "Widget"})
    assert (response.code, response.message) == (
        400,
        "the API version in the data () does not match the expected API version (example.com/v1)",
    )


@pytest.mark.parametrize(("verb", "path"), [("POST", WIDGETS), ("PUT", f"{WIDGETS}/a")])
async def test_a_custom_resource_of_another_kind_is_invalid(api: Api, verb: str, path: str) -> None:
    await with_widgets(api)
    await api.create(WIDGETS, {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}})
    body = {"apiVersion": "example.com/v1", "kind": "Else", "metadata": {"name": "a", "resourceVersion": "1"}}
    response = await api.fetch(verb, path, body)
    assert (response.code, response.message) == (
        422,
        'Else.example.com "a" is invalid: kind: Invalid value: "Else": must be Widget',
    )


async def test_a_group_that_is_empty_may_have_its_slash(api: Api) -> None:
    made = await api.create(CONFIG_MAPS, {"apiVersion": "/v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    assert made["apiVersion"] == "v1"
    made["apiVersion"] = "/v1"
    assert (await api.put(f"{CONFIG_MAPS}/a", made)).body["apiVersion"] == "v1"
    for kind in ("merge", "strategic"):
        patched = await api.patch(f"{CONFIG_MAPS}/a", {"apiVersion": "/v1", "data": {"a": kind}}, kind)
        assert (patched.code, patched.body["apiVersion"], patched.body["data"]) == (200, "v1", {"a": kind})
    body = {"apiVersion": "/v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "apply"}}
    applied = await api.patch(f"{CONFIG_MAPS}/a?fieldManager=m&force=true", body, "apply")
    assert (applied.code, applied.body.get("apiVersion")) == (200, "v1"), applied.message
    refused = await api.post(CONFIG_MAPS, {"apiVersion": "//v1", "kind": "ConfigMap", "metadata": {"name": "b"}})
    assert refused.code == 400


UNREAD = "the object provided is unrecognized (must be of type ConfigMap): "
NO_TYPE = f"{UNREAD}couldn't get version/kind; json parse error: "
NOT_ANY = "json: cannot unmarshal array into an object"


@pytest.mark.parametrize(
    ("content_type", "body", "message"),
    [
        ("application/json", b"{", NO_TYPE + "unexpected end of JSON input ({)"),
        ("application/json", b"", NO_TYPE + "unexpected end of JSON input (<empty>)"),
        ("application/json", b"nope", NO_TYPE + "invalid character 'o' in literal null (expecting 'u') (6e6f7065)"),
        ("application/json", b"[]", f"{NO_TYPE}{NOT_ANY} (5b5d)"),
        (
            "application/json",
            b'{"kind":"ConfigMap","apiVersion":5}',
            NO_TYPE + "json: cannot unmarshal number into Go struct field .apiVersion of type string "
            '({"kind":"ConfigMap","apiVersio ...)',
        ),
        ("application/yaml", b"{", UNREAD + "yaml: line 1: did not find expected node content ({)"),
        ("application/vnd.kubernetes.protobuf", b"k8s\0", UNREAD + "empty body (6b387300)"),
        (
            "application/json",
            b'{"kind":"Pod","apiVersion":"v1"}',
            'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): '
            "unknown conversion",
        ),
        (
            "application/json",
            b'{"kind":"Foo","apiVersion":"v1"}',
            'Foo in version "v1" cannot be handled as a ConfigMap: no kind "Foo" is registered for version "v1"',
        ),
        (
            "application/json",
            b'{"kind":"ConfigMap","apiVersion":"apps/v1"}',
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version '
            '"apps/v1"',
        ),
    ],
)
async def test_a_body_of_which_nothing_can_be_made(api: Api, content_type: str, body: bytes, message: str) -> None:
    response = await api.fetch("POST", CONFIG_MAPS, body, content_type=content_type)
    assert (response.code, response.reason, response.message) == (400, "BadRequest", message)


async def test_null_and_an_empty_type_are_those_of_the_path(api: Api) -> None:
    for body in (b"null", b'{"kind":"","apiVersion":""}'):
        response = await api.post(CONFIG_MAPS, body)
        assert (response.code, response.causes[0]["field"]) == (422, "metadata.name")


async def test_names_are_generated(api: Api) -> None:
    body = {"metadata": {"generateName": "x" * 70 + "-"}}
    made = await api.create(CONFIG_MAPS, body)
    assert re.fullmatch(r"x{58}[bcdfghjklmnpqrstvwxz2456789]{5}", made["metadata"]["name"])


async def test_a_given_name_is_kept(api: Api) -> None:
    body = {"metadata": {"generateName": "x-", "name": "y"}}
    assert (await api.create(CONFIG_MAPS, body))["metadata"]["name"] == "y"
    response = await api.post(CONFIG_MAPS, body)
    assert (response.code, response.message) == (409, 'configmaps "y" already exists')


async def test_generated_names_give_up_in_the_end(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def always_the_same(base: str, random: object) -> str:
        tried.append(base)
        return f"{base}same"

    monkeypatch.setattr(creation, "generate_name", always_the_same)
    await api.create(CONFIG_MAPS, {"metadata": {"generateName": "x-"}})
    tried.clear()
    response = await api.post(CONFIG_MAPS, {"metadata": {"generateName": "x-"}})
    assert (response.code, response.reason) == (409, "AlreadyExists")
    assert response.body["details"]["retryAfterSeconds"] == 1
    assert (b"Retry-After", b"1") in response.response.headers
    assert len(tried) == 8


@pytest.mark.parametrize(
    ("path", "name", "text"),
    [
        (CONFIG_MAPS, "A", "a lowercase RFC 1123 subdomain must consist of"),
        (CONFIG_MAPS, "x" * 254, "must be no more than 253"),
        ("/api/v1/namespaces", "A_b", "a lowercase RFC 1123 label must consist of"),
        ("/api/v1/namespaces/default/services", "A_b", "a lowercase RFC 1123 label must consist of"),
        ("/apis/rbac.authorization.k8s.io/v1/clusterroles", "a/b", "may not contain '/'"),
        ("/apis/rbac.authorization.k8s.io/v1/clusterroles", "..", "may not be '..'"),
        ("/apis/rbac.authorization.k8s.io/v1/clusterroles", "a%b", "may not contain '%'"),
    ],
)
async def test_names_have_rules(api: Api, path: str, name: str, text: str) -> None:
    body: dict[str, Any] = {"metadata": {"name": name}}
    if path.endswith("services"):
        body["spec"] = {"ports": [{"port": 80}]}
    response = await api.post(path, body)
    assert (response.code, response.reason) == (422, "Invalid")
    causes = [c for c in response.causes if c["field"] == "metadata.name"]
    assert [c["reason"] for c in causes] == ["FieldValueInvalid"]
    assert text in causes[0]["message"]


async def test_no_name_at_all(api: Api) -> None:
    response = await api.post(CONFIG_MAPS, {"data": {}})
    assert (response.code, response.reason) == (422, "Invalid")
    assert (
        response.message == 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'
    )


@pytest.mark.parametrize(
    ("metadata", "field", "reason"),
    [
        ({"labels": {"a b": "c"}}, "metadata.labels", "FieldValueInvalid"),
        ({"labels": {"a": "b c"}}, "metadata.labels", "FieldValueInvalid"),
        ({"labels": {"a": "b" * 64}}, "metadata.labels", "FieldValueInvalid"),
        ({"annotations": {"a": "x" * 262_144}}, "metadata.annotations", "FieldValueTooLong"),
        ({"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]}, "uid", "FieldValueInvalid"),
        ({"finalizers": ["a b"]}, "metadata.finalizers", "FieldValueInvalid"),
    ],
)
async def test_metadata_has_rules(api: Api, metadata: Any, field: str, reason: str) -> None:
    response = await api.post(CONFIG_MAPS, config_map(**metadata))
    assert (response.code, response.reason) == (422, "Invalid")
    assert any(c["field"].startswith(field) or field in c["field"] for c in response.causes)
    assert reason in {c["reason"] for c in response.causes} or field == "uid"


async def test_two_controllers_are_refused(api: Api) -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "controller": True}
    response = await api.post(CONFIG_MAPS, config_map(ownerReferences=[owner | {"uid": "1"}, owner | {"uid": "2"}]))
    assert response.code == 422
    assert "Only one reference can have Controller set to true" in response.message


async def test_an_owner_that_occurs_twice_is_taken_out_with_a_warning(api: Api) -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "1"}
    response = await api.post(CONFIG_MAPS, config_map(ownerReferences=[owner, owner]))
    assert response.metadata["ownerReferences"] == [owner]
    assert len(response.warnings) == 1
    assert response.warnings[0].startswith(".metadata.ownerReferences contains duplicate entries")


@pytest.mark.parametrize(
    ("message", "body", "path"),
    [
        (
            'Deployment.apps "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
            deployment(replicas=-1),
            DEPLOYMENTS,
        )
    ],
)
async def test_the_message_of_one_fault(api: Api, message: str, body: Any, path: str) -> None:
    response = await api.post(path, body)
    assert (response.code, response.message) == (422, message)
    assert response.body["details"] == {
        "name": "d",
        "group": "apps",
        "kind": "Deployment",
        "causes": [
            {
                "reason": "FieldValueInvalid",
                "message": "Invalid value: -1: must be greater than or equal to 0",
                "field": "spec.replicas",
            }
        ],
    }


async def test_all_faults_are_listed(api: Api) -> None:
    response = await api.post(PODS, {"metadata": {"name": "P"}, "spec": {"containers": [{"name": "B"}]}})
    fields = [c["field"] for c in response.causes]
    assert {"metadata.name", "spec.containers[0].name", "spec.containers[0].image"} <= set(fields)
    assert response.message.startswith('Pod "P" is invalid: [metadata.name: Invalid value: "P": ')
    assert response.message.endswith("]")


PREFIX = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
STRICT = f'{PREFIX}strict decoding error: unknown field "odd", duplicate field "data.k"'
ODD = b'{"metadata":{"name":"a"},"odd":1,"data":{"k":"1","k":"2"}}'


async def test_unknown_and_duplicate_fields_warn_by_default(api: Api) -> None:
    for query, name in (("", b"a"), ("?fieldValidation=Warn", b"b")):
        response = await api.post(f"{CONFIG_MAPS}{query}", ODD.replace(b'"a"', b'"%b"' % name))
        assert response.code == 201
        assert response.warnings == ['unknown field "odd"', 'duplicate field "data.k"']
        assert response.body["data"] == {"k": "2"}
        assert "odd" not in response.body


async def test_unknown_and_duplicate_fields_are_refused_if_requested(api: Api) -> None:
    response = await api.post(f"{CONFIG_MAPS}?fieldValidation=Strict", ODD)
    assert (response.code, response.reason, response.message) == (400, "BadRequest", STRICT)
    assert (await api.get(f"{CONFIG_MAPS}/a")).code == 404


async def test_unknown_and_duplicate_fields_are_reported_in_the_order_of_the_text(api: Api) -> None:
    body = (
        b'{"metadata":{"name":"b","name":"a","odd":"1"},"odd":{"x":1,"x":2},"odd":2,'
        b'"spec":{"containers":[{"name":"c","image":"i","odd":1,"tty":true,"tty":false}]}}'
    )
    response = await api.post(f"{PODS}?fieldValidation=Strict", body)
    assert response.message.partition("strict decoding error: ")[2] == (
        'duplicate field "metadata.name", unknown field "metadata.odd", unknown field "odd", '
        'unknown field "spec.containers[0].odd", duplicate field "spec.containers[0].tty"'
    )


async def test_unknown_and_duplicate_fields_are_ignored_if_requested(api: Api) -> None:
    response = await api.post(f"{CONFIG_MAPS}?fieldValidation=Ignore", ODD)
    assert (response.code, response.warnings) == (201, [])


async def test_strict_yaml(api: Api) -> None:
    body = b"metadata:\n  name: a\nodd: 1\n"
    response = await api.post(f"{CONFIG_MAPS}?fieldValidation=Strict", body, content_type="application/yaml")
    assert (response.code, response.message) == (400, f'{PREFIX}strict decoding error: unknown field "odd"')


@pytest.mark.parametrize(
    ("query", "field", "text"),
    [
        (
            "fieldValidation=Odd",
            "fieldValidation",
            'Unsupported value: "Odd": supported values: "", "Ignore", "Strict", "Warn"',
        ),
        ("dryRun=Some", "dryRun", 'Unsupported value: ["Some"]: supported values: "All"'),
        (f"fieldManager={'m' * 129}", "fieldManager", "Too long: may not be more than 128 bytes"),
        ("fieldManager=a%0Ab", "fieldManager", None),
        (
            "fieldManager=%C3%A9%01",
            "fieldManager",
            'Invalid value: "é\\x01": invalid character U+0001 (at position 2)',
        ),
    ],
)
async def test_create_option_rules(api: Api, query: str, field: str, text: str | None) -> None:
    response = await api.post(f"{CONFIG_MAPS}?{query}", config_map())
    assert (response.code, response.reason) == (422, "Invalid")
    assert response.body["details"]["kind"] == "CreateOptions"
    assert response.causes[0]["field"] == field
    assert text is None or response.causes[0]["message"] == text


async def test_a_dry_run_stores_nothing(api: Api) -> None:
    response = await api.post(f"{CONFIG_MAPS}?dryRun=All", {"metadata": {"generateName": "x-"}})
    assert response.code == 201
    assert response.metadata["name"].startswith("x-")
    assert response.metadata["uid"]
    assert "resourceVersion" not in response.metadata
    assert (await api.get(CONFIG_MAPS)).body["items"] == []


async def test_a_dry_run_has_taken_names_and_faults(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map())
    assert (await api.post(f"{CONFIG_MAPS}?dryRun=All", config_map())).code == 409
    assert (await api.post(f"{CONFIG_MAPS}?dryRun=All", config_map("B"))).code == 422


async def test_a_dry_run_keeps_no_address(api: Api) -> None:
    path = "/api/v1/namespaces/default/services"
    body = {"metadata": {"name": "s"}, "spec": {"clusterIP": "10.96.0.77", "ports": [{"port": 80}]}}
    for _ in range(2):
        assert (await api.post(f"{path}?dryRun=All", body)).code == 201
    assert (await api.post(path, body)).code == 201


async def test_managed_fields_name_the_agent(api: Api) -> None:
    made = await api.create(CONFIG_MAPS, config_map())
    entry = made["metadata"]["managedFields"][0]
    assert (entry["manager"], entry["operation"], entry["apiVersion"]) == ("tests", "Update", "v1")
    assert entry["fieldsV1"] == {"f:data": {".": {}, "f:k": {}}}


async def test_managed_fields_name_the_manager_of_the_query(api: Api) -> None:
    response = await api.post(f"{CONFIG_MAPS}?fieldManager=me", config_map())
    assert [e["manager"] for e in response.metadata["managedFields"]] == ["me"]


async def test_values_become_canonical(api: Api) -> None:
    made = await api.create(
        PODS,
        pod(containers=[{"name": "c", "image": "i", "resources": {"limits": {"cpu": "1000m", "memory": "1024Ki"}}}]),
    )
    assert made["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "1", "memory": "1Mi"}


async def test_a_namespace_that_is_absent(api: Api) -> None:
    response = await api.post("/api/v1/namespaces/absent/configmaps", config_map())
    assert (response.code, response.reason, response.message) == (404, "NotFound", 'namespaces "absent" not found')


async def test_create_under_a_name_is_no_verb(api: Api) -> None:
    response = await api.post(f"{CONFIG_MAPS}/a", config_map())
    assert response.code == 405


async def test_create_without_a_namespace_is_no_verb(api: Api) -> None:
    response = await api.post("/api/v1/configmaps", config_map())
    assert (response.code, response.reason) == (405, "MethodNotAllowed")
    assert (await api.get("/api/v1/configmaps")).body["items"] == []


async def test_warnings_come_with_the_response(api: Api) -> None:
    response = await api.post(PODS, pod(nodeSelector={"beta.kubernetes.io/os": "linux"}))
    assert response.warnings == [
        'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'
    ]


async def test_a_table_of_what_was_made(api: Api) -> None:
    response = await api.post(CONFIG_MAPS, config_map(), accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert (response.code, response.body["kind"]) == (201, "Table")


async def test_a_resource_claim_that_requests_nothing_shows_so(api: Api) -> None:
    claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
    assert (await api.create(claims, {"metadata": {"name": "a"}, "spec": {}}))["spec"] == {
        "devices": {"requests": None}
    }
