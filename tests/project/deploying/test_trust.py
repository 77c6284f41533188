"""`sampan deploy` waits until the API server can call the webhooks."""

import asyncio

import pytest

from sampan.client import Client, MergePatch
from sampan.project.deploying import trust
from sampan.project.deploying.applying import apply_plan
from sampan.project.deploying.nodes import NodeKind
from sampan.project.deploying.readiness import NotReady
from sampan.resource import Object
from sampan.testing import Cluster
from tests.project.deploying.objects import crd, deploy, operator, planned

pytestmark = pytest.mark.cluster(loops="chain")

SERVICE = {"service": {"name": "boats-webhook", "namespace": "harbour", "path": "/check"}}


@pytest.fixture(autouse=True)
def processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the nodes run the operator."""

    async def runtime_of(client: Client) -> NodeKind:
        return NodeKind.PROCESSES

    monkeypatch.setattr(trust, "runtime_of", runtime_of)


def with_service(client_config: Object = SERVICE) -> list[Object]:
    """Return the objects of an operator whose webhook is behind a Service."""
    *rest, hooks = operator()
    (hook,) = hooks["webhooks"]
    return [*rest, {**hooks, "webhooks": [{**hook, "clientConfig": client_config}]}]


async def test_a_deployment_ends_when_the_webhook_has_its_authority(cluster: Cluster) -> None:
    client = cluster.admin()
    task = asyncio.create_task(deploy(client, with_service()))
    await asyncio.sleep(60)
    assert not task.done()
    resource = await client.resource_for("validatingwebhookconfigurations")
    (hook,) = (await resource.get("boats"))["webhooks"]
    hook["clientConfig"]["caBundle"] = "Cg=="
    await resource.patch("boats", MergePatch({"webhooks": [hook]}))
    waiting = "waiting  ValidatingWebhookConfiguration boats: the operator has not written its caBundle yet"
    assert (await task)[-1] == waiting


async def test_a_webhook_without_its_authority_is_named_with_the_state_of_the_operator(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full_reasons(client: Client, deployment: Object) -> list[str]:
        return [f"state of {deployment['metadata']['name']}"]

    monkeypatch.setattr(trust, "full_reasons", full_reasons)
    lines = list[str]()
    plan = await planned(cluster.admin(), with_service())
    with pytest.raises(NotReady, match="ValidatingWebhookConfiguration boats: the operator has not written"):
        await apply_plan(cluster.admin(), plan, lines.append, timeout_s=60)
    assert lines[-1] == "state of boats"


async def test_an_operator_without_replicas_is_not_waited_for(cluster: Cluster) -> None:
    objects = with_service()
    next(each for each in objects if each["kind"] == "Deployment")["spec"]["replicas"] = 0
    assert (await deploy(cluster.admin(), objects))[-1] == "created  ValidatingWebhookConfiguration boats"


def test_a_conversion_needs_an_authority_too() -> None:
    definition = crd()
    assert not trust.untrusted(definition)
    conversion = {"strategy": "Webhook", "webhook": {"clientConfig": SERVICE, "conversionReviewVersions": ["v1"]}}
    definition["spec"]["conversion"] = conversion
    assert trust.untrusted(definition) == 1
