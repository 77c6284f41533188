"""Events of requests to a server."""

import asyncio
from typing import Any

import pytest

from sampan.server.audit.audit import Audit
from tests.server.audit.recorder import Recorder, audit_to
from tests.server.client import header
from tests.server.cluster import Api, served
from tests.server.frame import JANE

COMPLETE = {"omitStages": ["RequestReceived"]}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}
TARGET = "/api/v1/namespaces/default/configmaps"


async def recorded(audit: Audit, recorder: Recorder, *requests: tuple[Any, ...], **headers: str) -> list[Any]:
    """The events of requests (method, target, body) to a server."""
    async with served(audit=audit) as api:
        for method, target, *body in requests:
            await api.fetch(method, target, *body, **headers)
    return recorder.events


async def test_a_create_is_recorded_with_all_fields() -> None:
    recorder = Recorder()
    audit = audit_to(recorder)
    received, event = await recorded(audit, recorder, ("POST", f"{TARGET}?dryRun=All", CONFIG_MAP), audit_id="x-1")
    assert received["stage"] == "RequestReceived"
    assert "responseStatus" not in received
    assert received["requestReceivedTimestamp"] == received["stageTimestamp"] == event["requestReceivedTimestamp"]
    assert event["stageTimestamp"] >= received["stageTimestamp"]
    response = event.pop("responseObject")
    assert response["metadata"]["uid"]
    assert response["metadata"]["managedFields"]
    for name in ("stageTimestamp", "requestReceivedTimestamp"):
        assert len(event.pop(name)) == len("2006-01-02T15:04:05.000000Z")
    assert event == {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": "x-1",
        "stage": "ResponseComplete",
        "requestURI": f"{TARGET}?dryRun=All",
        "verb": "create",
        "user": {"username": "admin", "groups": ["system:masters", "system:authenticated"]},
        "sourceIPs": ["192.0.2.1"],
        "userAgent": "tests/1",
        "objectRef": {"resource": "configmaps", "namespace": "default", "name": "a", "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 201},
        "requestObject": CONFIG_MAP,
        "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""},
    }


@pytest.mark.parametrize(
    ("level", "request_object", "response_object"),
    [("Metadata", False, False), ("Request", True, False), ("RequestResponse", True, True)],
)
async def test_bodies_are_recorded_only_at_the_levels_of_the_policy(
    level: str, request_object: bool, response_object: bool
) -> None:
    recorder = Recorder()
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": "hush"}}
    target = TARGET.replace("configmaps", "secrets")
    audit = audit_to(recorder, {"level": level})
    events = await recorded(audit, recorder, ("POST", target, secret), ("GET", f"{target}/s"))
    create, get = events[1], events[3]
    assert ("requestObject" in create, "responseObject" in create) == (request_object, response_object)
    assert ("requestObject" in get, "responseObject" in get) == (False, response_object)
    assert ("aHVzaA==" in str(create.get("requestObject"))) is request_object
    assert "hush" not in str(events)


async def test_requests_that_the_policy_excludes_are_not_recorded() -> None:
    recorder = Recorder()
    rules = ({"level": "None", "resources": [{"resources": ["configmaps"]}]}, {"level": "Metadata"})
    events = await recorded(audit_to(recorder, *rules, **COMPLETE), recorder, ("GET", TARGET), ("GET", "/version"))
    assert [event["requestURI"] for event in events] == ["/version"]
    assert "objectRef" not in events[0]


async def test_a_refused_request_is_recorded_with_its_status() -> None:
    recorder = Recorder()
    (event,) = await recorded(audit_to(recorder, **COMPLETE), recorder, ("GET", f"{TARGET}/none"))
    status = event["responseStatus"]
    assert (status["status"], status["reason"], status["code"]) == ("Failure", "NotFound", 404)
    assert status["message"] == 'configmaps "none" not found'
    assert event["responseObject"]["kind"] == "Status"


async def test_a_forbidden_request_is_recorded_with_the_decision() -> None:
    recorder = Recorder()
    async with served(audit=audit_to(recorder, {"level": "Metadata"}, **COMPLETE)) as api:
        await Api(api.server, JANE).get(TARGET)
    (event,) = recorder.events
    assert event["annotations"]["authorization.k8s.io/decision"] == "forbid"
    assert (event["user"]["username"], event["user"]["uid"]) == ("jane", "u-1")
    assert event["responseStatus"]["code"] == 403


async def test_failed_authentication_is_recorded_when_the_response_starts() -> None:
    recorder = Recorder()
    async with served(audit=audit_to(recorder, {"level": "Metadata"})) as api:
        response = await Api(api.server, {"authorization": "Bearer wrong"}).get(TARGET)
    (event,) = recorder.events
    assert response.code == 401
    assert (event["stage"], event["user"], event["responseStatus"]["code"]) == ("ResponseStarted", {}, 401)
    assert "wrong" not in str(recorder.events)


async def test_an_event_names_the_requester_and_the_impersonated_user() -> None:
    recorder = Recorder()
    audit = audit_to(recorder, {"level": "Metadata"}, **COMPLETE)
    headers = {"impersonate_user": "joe", "impersonate_group": "qa"}
    (event,) = await recorded(audit, recorder, ("GET", TARGET), **headers)
    assert event["user"]["username"] == "admin"
    assert event["impersonatedUser"] == {"username": "joe", "groups": ["qa", "system:authenticated"]}


async def test_a_watch_is_recorded_when_it_starts_and_when_it_ends() -> None:
    recorder = Recorder()
    audit = audit_to(recorder, {"level": "Metadata"})
    async with served(audit=audit) as api, asyncio.TaskGroup() as group:
        running = group.create_task(audit.run())
        await asyncio.sleep(0)
        async with api.watch(f"{TARGET}?watch=1"):
            assert recorder.stages() == ["RequestReceived", "ResponseStarted"]
        running.cancel()
    assert recorder.stages() == ["RequestReceived", "ResponseStarted", "ResponseComplete"]
    assert recorder.events[2]["responseStatus"] == {"metadata": {}, "code": 200}


async def test_an_object_is_recorded_with_its_defaults_and_without_what_admission_adds() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}
    recorder = Recorder()
    target = "/apis/apps/v1/namespaces/default/deployments"
    (event,) = await recorded(
        audit_to(recorder, {"level": "Request", **COMPLETE}), recorder, ("POST", target, deployment)
    )
    found = event["requestObject"]
    assert found["spec"]["replicas"] == 1
    assert found["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": "25%", "maxSurge": "25%"}
    assert found["metadata"].keys() <= {"name", "creationTimestamp"}


async def test_a_body_that_is_no_object_is_not_recorded() -> None:
    recorder = Recorder()
    body = {**CONFIG_MAP, "nobody": "knows"}
    audit = audit_to(recorder, {"level": "Request", **COMPLETE})
    (event,) = await recorded(audit, recorder, ("POST", f"{TARGET}?fieldValidation=Strict", body))
    assert event["responseStatus"]["code"] == 400
    assert "requestObject" not in event
    assert "name" not in event["objectRef"]


@pytest.mark.parametrize(("path", "kind"), [("/api/v1", "APIResourceList"), ("/version", None), ("/openapi/v3", None)])
async def test_only_objects_are_recorded_of_responses_to_non_resource_requests(path: str, kind: str | None) -> None:
    recorder = Recorder()
    audit = audit_to(recorder, {"level": "RequestResponse", **COMPLETE})
    (event,) = await recorded(audit, recorder, ("GET", path))
    assert event.get("responseObject", {}).get("kind") == kind


async def test_the_patch_itself_is_recorded() -> None:
    recorder = Recorder()
    async with served(audit=audit_to(recorder, {"level": "Request"}, **COMPLETE)) as api:
        await api.post(TARGET, CONFIG_MAP)
        await api.patch(f"{TARGET}/a", {"metadata": {"name": "a", "uid": None}, "data": {"k": "w"}})
    event = recorder.events[-1]
    assert event["requestObject"] == {"metadata": {"name": "a", "uid": None}, "data": {"k": "w"}}
    assert "uid" not in event["objectRef"]


async def test_options_and_status_of_a_deletion_are_recorded() -> None:
    recorder = Recorder()
    async with served(audit=audit_to(recorder, **COMPLETE)) as api:
        await api.post(TARGET, CONFIG_MAP)
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        await api.delete(f"{TARGET}/a", options)
    event = recorder.events[-1]
    assert event["requestObject"] == {**options, "apiVersion": "meta.k8s.io/__internal"}
    assert (event["responseStatus"]["status"], event["responseStatus"]["details"]["name"]) == ("Success", "a")


async def test_an_update_names_the_version_that_it_was_made_from() -> None:
    recorder = Recorder()
    async with served(audit=audit_to(recorder, {"level": "Metadata"}, **COMPLETE)) as api:
        stored = await api.create(TARGET, CONFIG_MAP)
        await api.put(f"{TARGET}/a", stored)
    reference = recorder.events[-1]["objectRef"]
    assert reference["resourceVersion"] == stored["metadata"]["resourceVersion"]
    assert reference["uid"] == stored["metadata"]["uid"]


async def test_managed_fields_are_omitted_if_the_policy_requires_it() -> None:
    recorder = Recorder()
    audit = audit_to(recorder, omitManagedFields=True, **COMPLETE)
    async with served(audit=audit) as api:
        stored = await api.create(TARGET, CONFIG_MAP)
        await api.put(f"{TARGET}/a", stored)
        await api.get(TARGET)
        await api.get(TARGET, accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    assert "managedFields" in stored["metadata"]
    assert "managedFields" not in str(recorder.events)
    assert [event["responseObject"]["kind"] for event in recorder.events[2:]] == ["ConfigMapList", "Table"]


@pytest.mark.parametrize("accept", ["application/yaml", "application/vnd.kubernetes.protobuf", "application/json"])
async def test_bodies_are_json_in_every_media_type(accept: str) -> None:
    recorder = Recorder()
    async with served(audit=audit_to(recorder, **COMPLETE)) as api:
        text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
        await api.fetch("POST", f"{TARGET}?pretty=true", text, content_type="application/yaml", accept=accept)
    event = recorder.events[0]
    assert event["requestObject"] == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    assert event["responseObject"]["kind"] == "ConfigMap"
    assert b"\n" not in recorder.batches[0][0].document()


async def test_addresses_of_proxies_are_recorded() -> None:
    recorder = Recorder()
    audit = audit_to(recorder, {"level": "Metadata"}, **COMPLETE)
    headers = {"x_forwarded_for": "203.0.113.7, junk, 198.51.100.1", "x_real_ip": "203.0.113.9"}
    (event,) = await recorded(audit, recorder, ("GET", "/version"), **headers)
    assert event["sourceIPs"] == ["203.0.113.7", "198.51.100.1", "203.0.113.9", "192.0.2.1"]


async def test_a_long_name_of_a_client_is_cut() -> None:
    recorder = Recorder()
    audit = audit_to(recorder, {"level": "Metadata"}, **COMPLETE)
    (event,) = await recorded(audit, recorder, ("GET", "/version"), user_agent="a" * 2000)
    assert event["userAgent"] == "a" * 1024 + "...TRUNCATED"


async def test_a_strict_backend_refuses_requests_after_a_failure() -> None:
    recorder = Recorder(failing=True)
    audit = audit_to(recorder, {"level": "Metadata"})
    async with served(audit=audit) as api:
        response = await api.get(TARGET)
        metrics = (await api.client.get("/metrics")).body
    assert (response.code, response.message) == (500, "Internal error occurred: failed to store audit event")
    assert b"failed to store audit event" in metrics
    assert audit.metrics.rejected.counts == {(): 2}


async def test_metrics_count_levels_and_events() -> None:
    recorder = Recorder()
    rules = ({"level": "None", "verbs": ["list"]}, {"level": "Metadata"})
    async with served(audit=audit_to(recorder, *rules)) as api:
        await api.get(TARGET)
        await api.get("/version")
        text = (await api.client.get("/metrics")).body.decode()
    assert 'apiserver_audit_level_total{level="None"} 1.0' in text
    assert 'apiserver_audit_level_total{level="Metadata"} 2.0' in text
    assert "apiserver_audit_event_total 3.0" in text


async def test_without_an_audit_the_metrics_are_there() -> None:
    async with served() as api:
        response = await api.client.get("/metrics")
    assert b"apiserver_audit_event_total 0.0" in response.body
    assert header(response, "audit-id")
