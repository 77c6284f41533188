"""Traces of dry-run writes."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from sampan.server.trace.recorder import Recorder
from tests.server.admission.webhook.hooks import Hooks, adding, configure, hook
from tests.server.cluster import Api, served

MAPS = "/api/v1/namespaces/default/configmaps"
QUERY = "dryRun=All&sampan.dev%2Ftrace=true&fieldManager=tests"


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    """Start a server, and return its administrator's client."""
    async with served() as api:
        yield api


def _step(trace: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(step for step in trace["steps"] if step["name"] == name)
    return found


async def test_a_create_is_traced_from_the_body_to_the_store(api: Api) -> None:
    response = await api.post(f"{MAPS}?{QUERY}", {"metadata": {"name": "a"}, "data": {"x": "1"}})
    trace = response.body
    assert (response.code, trace["kind"], trace["code"]) == (200, "RequestTrace", 201)
    names = list(dict.fromkeys(step["name"] for step in trace["steps"]))
    assert [name for name in names if "admission" not in name] == [
        "read",
        "decode",
        "defaults",
        "managed fields",
        "prepare",
        "allocate",
        "validation",
        "store",
    ]
    assert trace["object"]["data"] == {"x": "1"}
    assert trace["user"]["username"]
    assert (await api.get(f"{MAPS}/a")).code == 404


async def test_times_add_up(api: Api) -> None:
    trace = (await api.post(f"{MAPS}?{QUERY}", {"metadata": {"name": "a"}})).body
    total = sum(step["tookMicroseconds"] for step in trace["steps"])
    assert trace["tookMicroseconds"] == pytest.approx(total, abs=len(trace["steps"]) * 0.1)
    assert all(step["tookMicroseconds"] >= 0 for step in trace["steps"])


async def test_an_apply_shows_the_object_that_it_comes_to(api: Api) -> None:
    await api.create(MAPS, {"metadata": {"name": "a"}, "data": {"x": "1"}})
    fields = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"y": "2"}}
    trace = (await api.apply(f"{MAPS}/a", fields, QUERY)).body
    assert {"op": "add", "path": "/data/y", "value": "2"} in _step(trace, "apply")["changes"]
    assert (trace["code"], trace["object"]["data"]) == (200, {"x": "1", "y": "2"})


async def test_an_allocated_address_is_a_change_of_its_step(api: Api) -> None:
    service = {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}}
    trace = (await api.post(f"/api/v1/namespaces/default/services?{QUERY}", service)).body
    [address] = [change for change in _step(trace, "allocate")["changes"] if change["path"] == "/spec/clusterIP"]
    assert trace["object"]["spec"]["clusterIP"] == address["value"] != ""


async def test_an_update_shows_what_is_put_back(api: Api) -> None:
    stored = await api.create(MAPS, {"metadata": {"name": "a"}, "data": {"x": "1"}})
    uid = stored["metadata"]["uid"]
    trace = (await api.put(f"{MAPS}/a?{QUERY}", {"metadata": {"name": "a"}, "data": {"x": "2"}})).body
    assert trace["object"]["metadata"]["uid"] == uid
    assert trace["object"]["data"] == {"x": "2"}


@pytest.mark.parametrize(
    ("body", "step", "code"),
    [
        ({"metadata": {"name": "a"}, "data": {"a b": "c"}}, "validation", 422),
        ({"metadata": {"name": "a"}, "data": 1}, "decode", 400),
        ([], "read", 400),
    ],
    ids=["invalid", "unreadable", "no object"],
)
async def test_a_refusal_is_a_trace_that_ends_there(api: Api, body: Any, step: str, code: int) -> None:
    response = await api.post(f"{MAPS}?{QUERY}", body)
    trace = response.body
    assert (response.code, trace["code"], trace["status"]["code"]) == (200, code, code)
    last = trace["steps"][-1]
    assert last["name"] == step
    assert last.get("error") or last["detail"]


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("POST", f"{MAPS}?sampan.dev%2Ftrace=true"),
        ("GET", f"{MAPS}?{QUERY}"),
        ("DELETE", f"{MAPS}/a?{QUERY}"),
        ("PUT", f"/apis/apps/v1/namespaces/default/deployments/a/scale?{QUERY}"),
    ],
    ids=["no dry run", "a list", "a delete", "a scale"],
)
async def test_only_dry_run_writes_of_objects_are_traced(api: Api, method: str, target: str) -> None:
    response = await api.fetch(method, target, {"metadata": {"name": "a"}} if method in ("POST", "PUT") else b"")
    assert (response.code, response.reason) == (400, "BadRequest")
    assert (await api.get(f"{MAPS}/a")).code == 404


async def test_a_client_that_may_only_write_may_not_trace(api: Api) -> None:
    role = {"rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]}
    await _bind(api, role)
    jane = {"impersonate_user": "jane"}
    body = {"metadata": {"name": "a"}}
    assert (await api.post(f"{MAPS}?dryRun=All", body, **jane)).code == 201
    refused = await api.post(f"{MAPS}?{QUERY}", body, **jane)
    assert refused.code == 403
    assert 'User "jane" cannot trace resource "configmaps"' in refused.message


async def test_a_client_that_may_only_trace_may_not_write(api: Api) -> None:
    await _bind(api, {"rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["trace"]}]})
    refused = await api.post(f"{MAPS}?{QUERY}", {"metadata": {"name": "a"}}, impersonate_user="jane")
    assert 'User "jane" cannot create resource "configmaps"' in refused.message


async def test_both_rights_together_are_enough(api: Api) -> None:
    await _bind(api, {"rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "trace"]}]})
    response = await api.post(f"{MAPS}?{QUERY}", {"metadata": {"name": "a"}}, impersonate_user="jane")
    assert (response.code, response.body["user"]["username"]) == (200, "jane")


async def _bind(api: Api, role: dict[str, Any]) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    await api.create(f"{rbac}/roles", {"metadata": {"name": "tracer"}, **role})
    subject = {"kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"kind": "Role", "name": "tracer", "apiGroup": "rbac.authorization.k8s.io"}
    binding = {"metadata": {"name": "tracer"}, "subjects": [subject], "roleRef": reference}
    await api.create(f"{rbac}/rolebindings", binding)


async def test_a_request_after_a_traced_one_is_not_traced(api: Api) -> None:
    await api.post(f"{MAPS}?{QUERY}", {"metadata": {"name": "a"}})
    response = await api.post(MAPS, {"metadata": {"name": "a"}})
    assert (response.code, response.body["kind"]) == (201, "ConfigMap")


def test_a_step_lasts_from_the_end_of_the_one_before_without_the_observing() -> None:
    times = iter([0.0, 1.0, 3.0, 10.0, 10.0, 12.0, 13.0, 20.0])
    recorder = Recorder(lambda: next(times))
    with recorder.part("a", dict):  # observed from 1 to 3, ends at 10; looked at again from 10 to 12; goes on at 13
        pass
    recorder.end("b")
    assert [(step.name, step.took_s) for step in recorder.steps] == [("a", 8.0), ("b", 7.0)]


CRD = {
    "metadata": {"name": "boats.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"kind": "Boat", "plural": "boats"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {"crew": {"type": "integer", "default": 2, "maximum": 9}},
                                "x-kubernetes-validations": [{"rule": "self.crew > 0", "message": "nobody rows"}],
                            },
                            "status": {"type": "object", "properties": {"afloat": {"type": "boolean"}}},
                        },
                    }
                },
            }
        ],
    },
}
BOATS = "/apis/example.com/v1/namespaces/default/boats"


@pytest.fixture
async def boats(api: Api) -> Api:
    """Start a server with Boats, one of which exists."""
    await api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", CRD)
    await api.create(BOATS, _boat("a", crew=3))
    return api


def _boat(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.com/v1", "kind": "Boat", "metadata": {"name": name}, "spec": spec}


async def test_custom_resources_show_what_is_pruned_and_what_is_defaulted(boats: Api) -> None:
    trace = (await boats.post(f"{BOATS}?{QUERY}", _boat("b", sail="red"))).body
    assert {"op": "remove", "path": "/spec/sail"} in _step(trace, "decode")["changes"]
    assert {"op": "add", "path": "/spec/crew", "value": 2} in _step(trace, "defaults")["changes"]


async def test_a_rule_in_cel_refuses_in_the_validation(boats: Api) -> None:
    trace = (await boats.post(f"{BOATS}?{QUERY}", _boat("b", crew=0))).body
    assert (trace["code"], trace["steps"][-1]["name"]) == (422, "validation")
    assert "nobody rows" in trace["steps"][-1]["error"]


@pytest.mark.parametrize("kind", ["merge", "json"])
async def test_patches_of_all_kinds_are_traced(boats: Api, kind: str) -> None:
    patches = {"merge": {"spec": {"crew": 4}}, "json": [{"op": "replace", "path": "/spec/crew", "value": 4}]}
    trace = (await boats.patch(f"{BOATS}/a?{QUERY}", patches[kind], kind)).body
    assert (trace["code"], trace["object"]["spec"]) == (200, {"crew": 4})
    assert (await boats.get(f"{BOATS}/a")).body["spec"] == {"crew": 3}


async def test_a_status_is_traced_and_the_spec_is_put_back(boats: Api) -> None:
    patch = {"spec": {"crew": 9}, "status": {"afloat": True}}
    trace = (await boats.patch(f"{BOATS}/a/status?{QUERY}", patch)).body
    assert (trace["object"]["spec"], trace["object"]["status"]) == ({"crew": 3}, {"afloat": True})


async def test_a_trace_of_what_is_not_there_is_refused(boats: Api) -> None:
    trace = (await boats.patch(f"{BOATS}/none?{QUERY}", {"spec": {}})).body
    assert (trace["code"], trace["steps"][-1]["name"]) == (404, "refused")


async def test_a_patch_of_a_webhook_has_its_name(api: Api) -> None:
    hooks = Hooks(api)
    hooks.responses["hook.example.com"] = adding("stamp", "yes")
    await configure(api, "Mutating", hook())
    trace = (await api.post(f"{MAPS}?{QUERY}", {"metadata": {"name": "a"}})).body
    step = next(step for step in trace["steps"] if step.get("webhooks"))
    assert (step["name"], step["detail"]) == ("mutating admission", "MutatingAdmissionWebhook")
    assert step["webhooks"] == [
        {"webhook": "hook.example.com", "patch": [{"op": "add", "path": "/data", "value": {"stamp": "yes"}}]}
    ]
