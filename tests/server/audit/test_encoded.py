"""The requestObject of events: as Go writes what it has read, with the fields that are always there."""

from typing import Any

import pytest

from sampan.core.tokens.keys import make_signing_key
from sampan.server.authentication.service_account.issuer import TokenIssuer
from sampan.server.authentication.token_service import TokenService
from tests.server.audit.recorder import Recorder, audit_to
from tests.server.cluster import served

AUTHENTICATION, AUTHORIZATION = "authentication.k8s.io/v1", "authorization.k8s.io/v1"
NO_TOKEN = {"token": "", "expirationTimestamp": None}


async def request_object(method: str, target: str, body: Any) -> Any:
    """Return the requestObject in the event of a request."""
    recorder = Recorder()
    async with served(audit=audit_to(recorder, omitStages=["RequestReceived"])) as api:
        await api.fetch(method, target, body)
    [event] = recorder.events
    return event.get("requestObject")


@pytest.mark.parametrize(
    ("target", "kind", "shown"),
    [
        ("selfsubjectreviews", "SelfSubjectReview", {"status": {"userInfo": {}}}),
        ("tokenreviews", "TokenReview", {"spec": {}, "status": {"user": {}}}),
    ],
)
async def test_reviews_of_users_have_their_empty_parts(target: str, kind: str, shown: Any) -> None:
    body = {"apiVersion": AUTHENTICATION, "kind": kind}
    found = await request_object("POST", f"/apis/{AUTHENTICATION}/{target}", body)
    assert found == {**body, "metadata": {}, **shown}


async def test_reviews_of_rules_have_lists_that_are_null() -> None:
    body = {"apiVersion": AUTHORIZATION, "kind": "SelfSubjectRulesReview", "spec": {"namespace": "default"}}
    found = await request_object("POST", f"/apis/{AUTHORIZATION}/selfsubjectrulesreviews", body)
    status = {"resourceRules": None, "nonResourceRules": None, "incomplete": False}
    assert found == {**body, "metadata": {}, "status": status}


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        (None, {"audiences": None, "expirationSeconds": 3600, "boundObjectRef": None}),
        ({"audiences": ["x"]}, {"audiences": ["x"], "expirationSeconds": 3600, "boundObjectRef": None}),
        (
            {"expirationSeconds": 1, "boundObjectRef": {"kind": "Pod"}},
            {"audiences": None, "expirationSeconds": 1, "boundObjectRef": {"kind": "Pod"}},
        ),
    ],
    ids=["nothing said", "an audience", "bound"],
)
async def test_requests_for_tokens_have_their_default_fields(spec: Any, shown: Any) -> None:
    body = {"apiVersion": AUTHENTICATION, "kind": "TokenRequest", **({"spec": spec} if spec else {})}
    recorder = Recorder()
    issuing = TokenService(issuer=TokenIssuer("https://issuer", make_signing_key()))
    async with served(audit=audit_to(recorder, omitStages=["RequestReceived"]), identity=lambda _: issuing) as api:
        await api.post("/api/v1/namespaces/default/serviceaccounts/robot/token", body)
    [event] = recorder.events
    assert event["requestObject"] == {**body, "metadata": {}, "spec": shown, "status": NO_TOKEN}


async def test_a_scale_has_a_status_and_no_replicas_of_zero() -> None:
    body = {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "d", "namespace": "default"},
        "spec": {"replicas": 0},
    }
    found = await request_object("PUT", "/apis/apps/v1/namespaces/default/deployments/d/scale", body)
    assert found == {**body, "spec": {}, "status": {"replicas": 0}}


async def test_a_binding_has_a_target() -> None:
    body = {"apiVersion": "v1", "kind": "Binding"}
    found = await request_object("POST", "/api/v1/namespaces/default/pods/p/binding", body)
    assert found == {**body, "metadata": {}, "target": {}}


async def test_a_role_without_rules_has_null() -> None:
    body = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}}
    found = await request_object("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles", body)
    assert found["rules"] is None


async def test_an_unreadable_body_is_recorded_unchanged() -> None:
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": 7}}
    assert await request_object("POST", "/api/v1/namespaces/default/pods/p/binding", body) == body


async def test_a_revision_without_data_has_null() -> None:
    body = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "r"}, "revision": 1}
    found = await request_object("POST", "/apis/apps/v1/namespaces/default/controllerrevisions", body)
    assert found["data"] is None


async def test_a_daemon_set_has_its_count_of_templates() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    body = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"}, "spec": spec}
    found = await request_object("POST", "/apis/apps/v1/namespaces/default/daemonsets", body)
    assert found["metadata"]["annotations"] == {"deprecated.daemonset.template.generation": "0"}
