"""Times that are not set: null where Go's type is neither a pointer nor left out when it is zero.

The answers are those of kube-apiserver 1.36.3. Source: apimachinery pkg/apis/meta/v1/time.go, micro_time.go (1.36).
"""

from typing import Any

import pytest

from sampan.wire.protobuf import decode, encode
from tests.server.cluster import Api
from tests.server.verbs.objects import DEPLOYMENTS, PODS, TABLE, deployment, pod

PROTOBUF = "application/vnd.kubernetes.protobuf"
EVENTS = "/api/v1/namespaces/default/events"
READY = {"type": "Ready", "status": "True"}
UNSET = {**READY, "lastProbeTime": None, "lastTransitionTime": None}
EVENT = {
    "metadata": {"name": "e"},
    "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
    "series": {"count": 2},
}


async def ready_pod(api: Api, **status: Any) -> Any:
    """A Pod with a condition without times."""
    made = await api.create(PODS, pod())
    response = await api.put(f"{PODS}/p/status", {**made, "status": {"conditions": [READY], **status}})
    assert response.code == 200, response.body
    return response.body


async def test_times_of_a_condition_are_null_however_they_are_read(api: Api) -> None:
    put = await ready_pod(api)
    got = (await api.get(f"{PODS}/p")).body
    listed = (await api.get(PODS)).body["items"][0]
    table = (await api.get(f"{PODS}/p?includeObject=Object", accept=TABLE)).body["rows"][0]["object"]
    async with api.watch(f"{PODS}?watch=1") as watch:
        observed = (await watch.event())["object"]
    assert [each["status"]["conditions"] for each in (put, got, listed, table, observed)] == [[UNSET]] * 5


async def test_times_of_a_condition_are_null_in_yaml(api: Api) -> None:
    await ready_pod(api)
    assert b"lastProbeTime: null\n" in (await api.get(f"{PODS}/p", accept="application/yaml")).response.body


async def test_times_that_protobuf_does_not_state_are_null(api: Api) -> None:
    made = await ready_pod(api)
    body = encode({**made, "status": {"conditions": [READY]}})
    response = await api.fetch("PUT", f"{PODS}/p/status", body, content_type=PROTOBUF, accept="application/json")
    assert response.body["status"]["conditions"] == [UNSET]
    observed = await api.get(f"{PODS}/p", accept=PROTOBUF)
    assert decode(observed.body)["status"]["conditions"] == [UNSET]


async def test_times_of_a_container_are_null(api: Api) -> None:
    state = {"state": {"running": {}}, "lastState": {"terminated": {"exitCode": 1}}}
    more = {"name": "c", "ready": True, "restartCount": 0, "image": "i", "imageID": "x"}
    (found,) = (await ready_pod(api, containerStatuses=[{**state, **more}]))["status"]["containerStatuses"]
    assert found["state"] == {"running": {"startedAt": None}}
    assert found["lastState"] == {"terminated": {"exitCode": 1, "startedAt": None, "finishedAt": None}}


async def test_a_client_that_writes_a_condition_owns_its_unset_times(api: Api) -> None:
    made = await ready_pod(api)
    (fields,) = (e["fieldsV1"] for e in made["metadata"]["managedFields"] if e.get("subresource") == "status")
    assert {"f:lastProbeTime", "f:lastTransitionTime"} < set(fields["f:status"]["f:conditions"]['k:{"type":"Ready"}'])


async def test_an_applied_condition_owns_only_what_was_applied(api: Api) -> None:
    await api.create(PODS, pod())
    applied = {"apiVersion": "v1", "kind": "Pod", "status": {"conditions": [READY]}}
    made = (await api.apply(f"{PODS}/p/status", applied)).body
    (fields,) = (e["fieldsV1"] for e in made["metadata"]["managedFields"] if e["operation"] == "Apply")
    assert set(fields["f:status"]["f:conditions"]['k:{"type":"Ready"}']) == {".", "f:status", "f:type"}
    assert made["status"]["conditions"] == [UNSET]
    again = (await api.apply(f"{PODS}/p/status", applied)).body
    assert again["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


@pytest.mark.parametrize("kind", ["merge", "strategic"])
async def test_a_patch_that_leaves_times_unset_changes_nothing(api: Api, kind: str) -> None:
    made = await ready_pod(api)
    for condition in (READY, UNSET):
        response = await api.patch(f"{PODS}/p/status", {"status": {"conditions": [condition]}}, kind)
        assert response.body == made


async def test_a_json_patch_finds_the_null_and_puts_it_back(api: Api) -> None:
    made = await ready_pod(api)
    path = "/status/conditions/0/lastProbeTime"
    operations = [{"op": "test", "path": path, "value": None}, {"op": "remove", "path": path}]
    response = await api.patch(f"{PODS}/p/status", operations, "json")
    assert (response.code, response.body) == (200, made)


async def test_a_time_of_a_deployment_is_unset_by_null(api: Api) -> None:
    made = await api.create(DEPLOYMENTS, deployment())
    reported = {"type": "Available", "status": "True", "lastUpdateTime": "2026-01-01T00:00:00Z"}
    await api.put(f"{DEPLOYMENTS}/d/status", {**made, "status": {"conditions": [reported]}})
    unset = {"type": "Available", "lastUpdateTime": None}
    response = await api.patch(f"{DEPLOYMENTS}/d/status", {"status": {"conditions": [unset]}}, "strategic")
    expected = {"type": "Available", "status": "True", "lastUpdateTime": None, "lastTransitionTime": None}
    assert response.body["status"]["conditions"] == [expected]


async def test_times_of_an_event_are_null_in_both_apis(api: Api) -> None:
    made = await api.create(EVENTS, EVENT)
    assert [made[name] for name in ("firstTimestamp", "lastTimestamp", "eventTime")] == [None] * 3
    assert made["series"] == {"count": 2, "lastObservedTime": None}
    other = (await api.get("/apis/events.k8s.io/v1/namespaces/default/events/e")).body
    assert [other[name] for name in ("deprecatedFirstTimestamp", "deprecatedLastTimestamp", "eventTime")] == [None] * 3
    assert other["series"] == {"count": 2, "lastObservedTime": None}


async def test_times_that_are_left_out_when_they_are_unset_are_not_shown(api: Api) -> None:
    made = await ready_pod(api)
    assert "startTime" not in made["status"]
    assert "deletionTimestamp" not in made["metadata"]
    template = (await api.create(DEPLOYMENTS, deployment()))["spec"]["template"]
    assert "creationTimestamp" not in template["metadata"]
