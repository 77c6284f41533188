"""The toolkit's webhook server and the API server's webhook plug-ins, over TLS, with nothing in between."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sampan.client import Client, condition_is, wait_for
from sampan.client.errors import ApiError
from sampan.operator.webhook import Denied, Findings, Validator, WebhookOptions
from sampan.operator.webhook.targets import CRDS
from tests.operator.cluster import cluster_client
from tests.operator.webhook.frame import GROUP, Json, Network, network, running
from tests.operator.webhook.test_conversion import converting
from tests.operator.webhook.test_in_cluster import (
    CRD_NAME,
    NETWORKS,
    NETWORKS_2,
    WITHIN_S,
    converted_crd,
    converts,
    server_in,
)


@asynccontextmanager
async def admitted(client: Client) -> AsyncIterator[None]:
    """Networks with a default gateway; one of them may not be used. Webhooks and conversions know v1."""
    await client.resource(CRDS).create(converted_crd())
    server = server_in(client, WebhookOptions(host="127.0.0.1", port=0, ensure_configurations="networks"))
    converting(server)

    @server.mutating(Network)
    def fill_in(obj: Network) -> None:
        obj.spec.gateway = obj.spec.gateway or "10.0.0.1"

    @server.validating(Network)
    class Check(Validator[Network]):
        def on_create(self, obj: Network) -> Findings:
            if obj.spec.gateway == "10.0.0.9":
                raise Denied("this gateway is taken")
            return None

    async with running(server):
        await wait_for(client.resource(CRDS), CRD_NAME, condition_is("Established"), timeout_s=WITHIN_S)
        await converts(client)
        yield


def network_2(**spec: str | int) -> Json:
    """A Network of the other version."""
    spec = {"address": "10.0.0.0", "length": 24, **spec}
    return {"apiVersion": f"{GROUP}/v2", "kind": "Network", "metadata": {"name": "net"}, "spec": spec}


async def test_objects_of_both_versions_are_admitted() -> None:
    async with cluster_client() as client, admitted(client):
        made = await client.resource(NETWORKS).create(network())
        assert made["spec"]["gateway"] == "10.0.0.1"
        await client.resource(NETWORKS).delete("net")
        other = await client.resource(NETWORKS_2).create(network_2())
        assert other["spec"] == {"address": "10.0.0.0", "length": 24, "gateway": "10.0.0.1"}


async def test_a_refusal_reaches_the_client() -> None:
    async with cluster_client() as client, admitted(client):
        with pytest.raises(ApiError, match="denied the request: this gateway is taken"):
            await client.resource(NETWORKS_2).create(network_2(gateway="10.0.0.9"))


async def test_a_manager_that_applies_another_version_than_before_succeeds() -> None:
    """The server then converts the object without the fields of the earlier apply, of which some are required."""
    async with cluster_client() as client, admitted(client):
        await client.resource(NETWORKS_2).apply(network_2(), field_manager="flux")
        applied = {**network(), "spec": {"cidr": "10.1.0.0/16"}}
        await client.resource(NETWORKS).apply(applied, field_manager="flux")
        spec = (await client.resource(NETWORKS_2).get("net"))["spec"]
        assert (spec["address"], spec["length"]) == ("10.1.0.0", 16)
