"""Webhooks of an operator that raise or block fail its test, although the server gets a response."""

import time
from typing import Any

import pytest

from sampan.client import InternalError
from sampan.component_base.resources import CONFIG_MAPS
from sampan.operator.manager import Manager
from sampan.operator.webhook import WebhookOptions, WebhookServer
from sampan.resource import Object, ObjectMeta
from sampan.resource.crd import crd_of
from sampan.testing import Cluster
from sampan.testing.operators.failures import OperatorFailed
from tests.operator.webhook.frame import MemoryCertificates, Network, NetworkSpec, NetworkV2

ADA = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ada"}}
OPTIONS = WebhookOptions(host="127.0.0.1", port=0, ensure_configurations="boats")


def operator(check: Any) -> Any:
    def set_up(manager: Manager) -> None:
        WebhookServer(manager, MemoryCertificates(), OPTIONS).validating(CONFIG_MAPS)(check)

    return set_up


def raising(new: Object, old: Object | None) -> None:
    raise KeyError("crew")


def blocking(new: Object, old: Object | None) -> None:
    time.sleep(0.12)


def right(new: Object, old: Object | None) -> None: ...


async def started(cluster: Cluster) -> None:
    await cluster.eventually("validatingwebhookconfigurations/boats", lambda found: bool(found))


@pytest.mark.cluster(time="real")
async def test_a_webhook_that_raises_fails_the_test(cluster: Cluster) -> None:
    running = cluster.run(operator(raising))
    await started(cluster)
    with pytest.raises(InternalError):
        await cluster.apply(ADA)
    with pytest.raises(OperatorFailed) as caught:
        await cluster.settled()
    await running.crash()
    assert "webhook for CREATE configmaps ada raised KeyError: 'crew'" in str(caught.value).splitlines()[0]


@pytest.mark.cluster(time="real")
async def test_a_webhook_that_blocks_fails_the_test(cluster: Cluster) -> None:
    running = cluster.run(operator(blocking))
    await started(cluster)
    await cluster.apply(ADA)
    with pytest.raises(OperatorFailed, match="webhook for CREATE configmaps ada blocked the event loop"):
        await cluster.settled()
    await running.crash()


@pytest.mark.cluster(time="real")
async def test_a_right_webhook_passes(cluster: Cluster) -> None:
    cluster.run(operator(right))
    await started(cluster)
    await cluster.apply(ADA)
    await cluster.settled()


@pytest.mark.cluster(time="real")
async def test_a_conversion_that_raises_fails_the_test(cluster: Cluster) -> None:
    def set_up(manager: Manager) -> None:
        networks = WebhookServer(manager, MemoryCertificates(), OPTIONS).conversion(NetworkV2)

        @networks.to_hub(Network)
        def upgrade(old: Network) -> NetworkV2:
            raise LookupError("no length")

        @networks.from_hub(Network)
        def downgrade(new: NetworkV2) -> Network:
            return Network(spec=NetworkSpec(cidr=new.spec.address))

    await cluster.crds(crd_of(Network, NetworkV2))
    running = cluster.run(set_up)
    await cluster.eventually(
        "crds/networks.net.example.com", lambda crd: "webhook" in crd["spec"].get("conversion", {})
    )
    with pytest.raises(InternalError):
        await cluster.apply(Network(metadata=ObjectMeta(name="n"), spec=NetworkSpec(cidr="10.0.0.0/24")))
    with pytest.raises(OperatorFailed, match="conversion webhook raised LookupError: no length"):
        await cluster.settled()
    await running.crash()
