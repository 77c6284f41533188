"""Evictions: pods are deleted as far as their disruption budget allows."""

import asyncio
from typing import Any

import pytest

from sampan.storage.memory import MemoryStore
from sampan.storage.store import Revision
from sampan.wire.protobuf import encode
from tests.server.admission.webhook.hooks import Hooks, configure, hook, patched
from tests.server.client import header
from tests.server.cluster import Api, ApiResponse, served
from tests.server.verbs.objects import PODS, pod

BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
READY = {"type": "Ready", "status": "True"}
REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
NONE_LEFT = {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1}


def eviction(name: str = "p", **more: Any) -> dict[str, Any]:
    """An Eviction of a pod."""
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}, **more}


async def evict(api: Api, name: str = "p", query: str = "", **more: Any) -> ApiResponse:
    """Request the eviction of a pod."""
    return await api.post(f"{PODS}/{name}/eviction{query}", eviction(name, **more))


async def with_pod(
    api: Api, name: str = "p", *, phase: str = "Running", ready: bool = True, node: str = ""
) -> dict[str, Any]:
    """A pod labelled app=web, in some state; with a node it is deleted gracefully."""
    made = pod(name, nodeName=node)
    made["metadata"]["labels"] = {"app": "web"}
    await api.create(PODS, made)
    status = {"phase": phase, "conditions": [READY] if ready else []}
    response = await api.patch(f"{PODS}/{name}/status", {"status": status})
    assert response.code == 200, response.body
    stored: dict[str, Any] = response.body
    return stored


async def with_budget(
    api: Api, status: dict[str, Any] | None = None, *, name: str = "b", app: str = "web", policy: str = ""
) -> None:
    """A budget that its controller has seen and that allows one disruption, unless `status` overrides that."""
    spec: dict[str, Any] = {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}}
    if policy:
        spec["unhealthyPodEvictionPolicy"] = policy
    made = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec}
    created = await api.create(BUDGETS, made)
    created["status"] = {
        "observedGeneration": 1,
        "disruptionsAllowed": 1,
        "currentHealthy": 2,
        "desiredHealthy": 1,
        "expectedPods": 2,
        **(status or {}),
    }
    response = await api.put(f"{BUDGETS}/{name}/status", created)
    assert response.code == 200, response.body


async def budget_status(api: Api, name: str = "b") -> dict[str, Any]:
    """The status of a budget."""
    status: dict[str, Any] = (await api.get(f"{BUDGETS}/{name}")).body["status"]
    return status


async def is_gone(api: Api, name: str = "p") -> bool:
    """Return whether the pod is not there any more."""
    return (await api.get(f"{PODS}/{name}")).code == 404


async def test_a_pod_without_a_budget_is_deleted(api: Api) -> None:
    await with_pod(api)
    response = await evict(api)
    assert (response.code, response.body) == (
        201,
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201},
    )
    assert await is_gone(api)


async def test_a_pod_on_a_node_is_reported_why_it_goes(api: Api) -> None:
    await with_pod(api, node="n")
    await evict(api, deleteOptions={"gracePeriodSeconds": 7})
    going = (await api.get(f"{PODS}/p")).body
    assert going["metadata"]["deletionGracePeriodSeconds"] == 7
    condition = next(c for c in going["status"]["conditions"] if c["type"] == "DisruptionTarget")
    assert condition.pop("lastTransitionTime")
    assert condition == {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
        "lastProbeTime": None,
    }


async def test_the_options_of_the_deletion_count(api: Api) -> None:
    await with_pod(api, node="n")
    await evict(api, deleteOptions={"gracePeriodSeconds": 0})
    assert await is_gone(api)


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
async def test_a_pod_that_does_not_run_needs_no_budget(api: Api, phase: str) -> None:
    await with_budget(api, NONE_LEFT)
    await with_pod(api, phase=phase)
    assert (await evict(api)).code == 201
    assert await is_gone(api)
    assert "disruptedPods" not in await budget_status(api)


async def test_a_pod_that_is_going_needs_no_budget(api: Api) -> None:
    await with_budget(api, NONE_LEFT)
    await with_pod(api, node="n")
    await api.delete(f"{PODS}/p")
    assert (await evict(api)).code == 201


async def test_a_disruption_is_taken_from_the_budget(api: Api) -> None:
    await with_budget(api, {"disruptionsAllowed": 2})
    await with_pod(api)
    assert (await evict(api)).code == 201
    status = await budget_status(api)
    assert (status["disruptionsAllowed"], list(status["disruptedPods"])) == (1, ["p"])
    assert "conditions" not in status


async def test_the_last_disruption_is_noted_in_the_conditions(api: Api) -> None:
    await with_budget(api)
    await with_pod(api)
    await evict(api)
    budget = (await api.get(f"{BUDGETS}/b")).body
    (condition,) = budget["status"]["conditions"]
    assert condition.pop("lastTransitionTime")
    assert condition == {
        "type": "DisruptionAllowed",
        "status": "False",
        "reason": "InsufficientPods",
        "message": "",
        "observedGeneration": 1,
    }
    managers = [(entry["manager"], entry.get("subresource")) for entry in budget["metadata"]["managedFields"]]
    assert ("kube-apiserver", "status") in managers


def allowed(status: str, reason: str, message: str) -> dict[str, Any]:
    """The condition that the controller of budgets keeps."""
    return {
        "type": "DisruptionAllowed",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (NONE_LEFT, "The disruption budget b needs 1 healthy pods and has 1 currently"),
        (
            {**NONE_LEFT, "conditions": [allowed("False", "SyncFailed", "no scale")]},
            "The disruption budget b does not allow evicting pods currently because it failed sync: no scale",
        ),
        (
            {"disruptionsAllowed": 0, "conditions": [allowed("False", "InsufficientPods", "too few")]},
            "The disruption budget b does not allow evicting pods currently (InsufficientPods): too few",
        ),
        ({"disruptionsAllowed": 0}, "The disruption budget b does not allow evicting pods currently"),
    ],
    ids=["too few pods", "sync failed", "with a message", "without a message"],
)
async def test_an_exhausted_budget_refuses(api: Api, status: dict[str, Any], cause: str) -> None:
    await with_budget(api, status)
    await with_pod(api)
    response = await evict(api)
    assert (response.code, response.reason, response.message) == (429, "TooManyRequests", REFUSED)
    assert response.body["details"] == {"causes": [{"reason": "DisruptionBudget", "message": cause}]}
    assert header(response.response, "Retry-After") is None
    assert not await is_gone(api)


async def test_a_budget_that_is_still_being_processed_refuses_for_now(api: Api) -> None:
    await with_budget(api, {"observedGeneration": 0})
    await with_pod(api)
    response = await evict(api)
    assert (response.code, response.message, header(response.response, "Retry-After")) == (429, REFUSED, "10")
    assert response.body["details"] == {
        "retryAfterSeconds": 10,
        "causes": [
            {
                "reason": "DisruptionBudget",
                "message": "The disruption budget b is still being processed by the server.",
            }
        ],
    }


async def test_a_budget_with_too_many_open_evictions_forbids_more(api: Api) -> None:
    at = "2026-01-01T00:00:00Z"
    await with_budget(api, {"disruptedPods": {f"p-{number}": at for number in range(2001)}})
    await with_pod(api)
    response = await evict(api)
    assert (response.code, response.message) == (
        403,
        'poddisruptionbudget.policy "b" is forbidden: DisruptedPods map too big - too many evictions not confirmed by '
        "PDB controller",
    )


async def test_several_budgets_are_not_supported(api: Api) -> None:
    await with_budget(api)
    await with_budget(api, name="c")
    await with_pod(api)
    response = await evict(api)
    assert (response.code, response.body["code"]) == (500, 500)
    assert response.message == (
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
    )
    assert not await is_gone(api)


async def test_budgets_of_other_pods_do_not_count(api: Api) -> None:
    await with_budget(api, NONE_LEFT, app="db")
    await with_pod(api)
    assert (await evict(api)).code == 201


@pytest.mark.parametrize(
    ("policy", "status", "code"),
    [
        ("AlwaysAllow", NONE_LEFT | {"currentHealthy": 0}, 201),
        ("IfHealthyBudget", NONE_LEFT, 201),
        ("", NONE_LEFT, 201),
        ("", NONE_LEFT | {"currentHealthy": 0}, 429),
        ("IfHealthyBudget", {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0}, 429),
    ],
    ids=["always", "enough others", "enough others by default", "too few others", "nothing desired"],
)
async def test_pods_that_are_not_ready(api: Api, policy: str, status: dict[str, Any], code: int) -> None:
    await with_budget(api, status, policy=policy)
    await with_pod(api, ready=False)
    assert (await evict(api)).code == code
    assert await is_gone(api) is (code == 201)
    assert "disruptedPods" not in await budget_status(api)


@pytest.mark.parametrize(
    ("query", "more"),
    [("?dryRun=All", {}), ("", {"deleteOptions": {"dryRun": ["All"]}})],
    ids=["in the query", "in the body"],
)
async def test_a_dry_run_changes_nothing(api: Api, query: str, more: dict[str, Any]) -> None:
    await with_budget(api)
    before = await with_pod(api)
    assert (await evict(api, query=query, **more)).code == 201
    assert (await api.get(f"{PODS}/p")).body == before
    assert (await budget_status(api))["disruptionsAllowed"] == 1


async def test_a_dry_run_reports_that_the_budget_refuses(api: Api) -> None:
    await with_budget(api, NONE_LEFT)
    await with_pod(api)
    assert (await evict(api, query="?dryRun=All")).code == 429


async def test_dry_runs_in_query_and_body_have_to_agree(api: Api) -> None:
    await with_pod(api)
    response = await evict(api, query="?dryRun=All", deleteOptions={"dryRun": ["All", "All"]})
    assert (response.code, response.message) == (
        500,
        "Non-matching dry-run options in request and content: [All] and [All All]",
    )


@pytest.mark.parametrize("precondition", [{"uid": "other"}, {"resourceVersion": "1"}], ids=["uid", "resourceVersion"])
@pytest.mark.parametrize("phase", ["Running", "Pending"])
async def test_preconditions_that_are_not_met_conflict(api: Api, precondition: dict[str, str], phase: str) -> None:
    await with_pod(api, phase=phase)
    response = await evict(api, deleteOptions={"preconditions": precondition})
    assert (response.code, response.reason) == (409, "Conflict")
    assert response.message.startswith('Operation cannot be fulfilled on Pod "p": the ')
    assert not await is_gone(api)


@pytest.mark.parametrize("phase", ["Running", "Pending"])
async def test_preconditions_that_are_met(api: Api, phase: str) -> None:
    metadata = (await with_pod(api, phase=phase))["metadata"]
    preconditions = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
    assert (await evict(api, deleteOptions={"preconditions": preconditions})).code == 201
    assert await is_gone(api)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (eviction("other"), "name in URL does not match name in Eviction object"),
        (
            eviction() | {"kind": "Binding"},
            'Binding in version "v1" cannot be handled as a Eviction: no kind "Binding" is registered for version '
            '"policy/v1"',
        ),
        (
            eviction() | {"apiVersion": "v1"},
            "the API version in the data (v1) does not match the expected API version (policy/v1)",
        ),
        (
            eviction() | {"metadata": {"name": "p", "namespace": "other"}},
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ],
    ids=["name", "kind", "version", "namespace"],
)
async def test_an_eviction_that_does_not_match_its_pod_is_a_bad_request(api: Api, body: Any, message: str) -> None:
    await with_pod(api)
    response = await api.post(f"{PODS}/p/eviction", body)
    assert (response.code, response.message) == (400, message)


async def test_values_of_other_types_are_bad_requests(api: Api) -> None:
    await with_pod(api)
    response = await evict(api, deleteOptions={"gracePeriodSeconds": "soon"})
    assert (response.code, response.message.partition(": ")[0]) == (
        400,
        'Eviction in version "v1" cannot be handled as a Eviction',
    )


async def test_unknown_fields_warn_or_refuse(api: Api) -> None:
    await with_pod(api)
    refused = await evict(api, query="?fieldValidation=Strict", spec={})
    assert (refused.code, refused.message.rpartition(": ")[2]) == (400, 'unknown field "spec"')
    assert (await evict(api, query="?dryRun=All", spec={})).warnings == ['unknown field "spec"']
    assert (await evict(api, query="?dryRun=All&fieldValidation=Ignore", spec={})).warnings == []


async def test_an_option_that_breaks_clusters_is_refused(api: Api) -> None:
    await with_pod(api)
    response = await evict(api, deleteOptions={"ignoreStoreReadErrorWithClusterBreakingPotential": True})
    assert (response.code, response.reason) == (422, "Invalid")
    assert response.causes[0]["field"] == "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential"


@pytest.mark.parametrize("version", ["policy/v1", "policy/v1beta1"])
async def test_typed_clients_evict_in_protobuf(api: Api, version: str) -> None:
    await with_pod(api)
    media_type = "application/vnd.kubernetes.protobuf"
    body = encode(eviction() | {"apiVersion": version})
    response = await api.fetch("POST", f"{PODS}/p/eviction", body, content_type=media_type, accept=media_type)
    assert (response.code, response.response.content_type) == (201, media_type)
    assert await is_gone(api)


async def test_nothing_is_evicted_that_is_not_there(api: Api) -> None:
    response = await evict(api)
    assert (response.code, response.message) == (404, 'pods "p" not found')


async def test_nothing_is_evicted_in_a_namespace_that_is_going(api: Api) -> None:
    await api.create("/api/v1/namespaces", {"metadata": {"name": "other", "finalizers": ["example.com/stays"]}})
    path = "/api/v1/namespaces/other/pods"
    await api.create(path, pod())
    await api.delete("/api/v1/namespaces/other")
    response = await api.post(f"{path}/p/eviction", {"metadata": {"name": "p"}})
    assert (response.code, response.causes[0]["reason"]) == (403, "NamespaceTerminating")


async def test_a_budget_for_one_lets_one_of_many_go(api: Api) -> None:
    await with_budget(api)
    names = [f"p-{number}" for number in range(8)]
    for name in names:
        await with_pod(api, name)
    responses = await asyncio.gather(*(evict(api, name) for name in names))
    assert sorted(response.code for response in responses) == [201, *[429] * 7]
    assert (await budget_status(api))["disruptionsAllowed"] == 0


class Racing(MemoryStore):
    """Another client writes a pod just before the next update of it."""

    race = 0

    async def update(self, key: str, value: bytes, expected: int, *, ttl_s: int = 0, frees: bool = False) -> Revision:
        if self.race and key.startswith("/registry/pods/"):
            self.race -= 1
            stored = await self.get(key)
            assert stored is not None
            await super().update(key, stored.value, stored.mod_revision)
        return await super().update(key, value, expected, ttl_s=ttl_s)


async def test_a_pod_that_may_have_become_ready_meanwhile_is_looked_at_again_by_the_client() -> None:
    store = Racing()
    async with served(store) as api:
        await with_budget(api, NONE_LEFT, policy="AlwaysAllow")
        await with_pod(api, ready=False)
        store.race = 1
        response = await evict(api)
        assert (response.code, header(response.response, "Retry-After")) == (429, "10")
        assert not await is_gone(api)


async def test_a_pending_pod_that_changed_meanwhile_is_looked_at_again_at_once() -> None:
    store = Racing()
    async with served(store) as api:
        await with_pod(api, phase="Pending")
        store.race = 3
        assert (await evict(api)).code == 201
        assert (store.race, await is_gone(api)) == (0, True)


async def test_other_writes_do_not_stop_an_eviction() -> None:
    store = Racing()
    async with served(store) as api:
        await with_budget(api)
        await with_pod(api)
        store.race = 3
        assert (await evict(api)).code == 201


async def test_a_webhook_sees_an_eviction_before_its_name_is_checked(api: Api) -> None:
    hooks = Hooks(api)
    rule = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/eviction"]}
    await configure(api, "Mutating", hook(rules=[rule]))
    await with_pod(api)
    hooks.responses["hook.example.com"] = lambda request: patched(
        {"op": "replace", "path": "/metadata/name", "value": "p"}
    )
    response = await api.post(f"{PODS}/p/eviction", eviction("q"))
    assert response.code == 201, response.body
