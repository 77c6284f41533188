"""Services of type LoadBalancer with the addresses of nodes, or of a pool."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sampan.component_base.context import ControllerContext
from sampan.component_base.load_balancer import AddressRange, LoadBalancerOptions
from sampan.component_base.resources import ENDPOINT_SLICES, NODES, SERVICES
from sampan.controllers import service_load_balancer
from sampan.controllers.service_load_balancer.assignment import AddressPort, ProtocolPort
from sampan.controllers.service_load_balancer.facts import BALANCER_NODE_VIEW, on_whole_nodes, places_of_slices
from sampan.resource import meta
from sampan.wire import json
from tests.client.connected import connected
from tests.controllers.cluster import Working, cluster, working

CLEANUP = "service.kubernetes.io/load-balancer-cleanup"
READY = [{"type": "Ready", "status": "True"}]
ONE, TWO = "192.0.2.1", "192.0.2.2"


def balancing(*pool: str) -> Callable[[ControllerContext], None]:
    """Return the set-up of the loop, with a pool of addresses."""
    options = LoadBalancerOptions(tuple(map(AddressRange.parse, pool)))
    return lambda context: service_load_balancer.set_up(replace(context, load_balancer=options))


async def node(c: Working, name: str, *addresses: str, **metadata: Any) -> None:
    """Create a ready node."""
    await c.create(NODES, {"metadata": {"name": name, **metadata}})
    listed = [{"type": "InternalIP", "address": address} for address in addresses]
    await c.patch_status(NODES, name, {"conditions": READY, "addresses": listed})


async def two_nodes(c: Working) -> None:
    """Create two ready nodes."""
    await node(c, "one", ONE)
    await node(c, "two", TWO)


async def service(c: Working, name: str = "web", port: int = 80, **spec: Any) -> Any:
    """Create a Service."""
    fields = {"type": "LoadBalancer", "selector": {"app": "web"}, "ports": [{"port": port}], **spec}
    return await c.create(SERVICES, {"metadata": {"name": name}, "spec": fields})


def ingress(obj: Any) -> list[str]:
    """Return the published addresses."""
    return [each["ip"] for each in obj["status"]["loadBalancer"].get("ingress") or ()]


async def published(c: Working, *addresses: str, name: str = "web") -> Any:
    """Wait until a Service has these addresses."""
    return await c.until(SERVICES, name, lambda obj: ingress(obj) == list(addresses))


async def test_a_service_gets_the_addresses_of_ready_nodes() -> None:
    async with cluster(balancing()) as c:
        await service(c)
        await two_nodes(c)
        found = await published(c, ONE, TWO)
        assert found["status"]["loadBalancer"]["ingress"][0] == {"ip": ONE, "ipMode": "VIP"}
        assert CLEANUP in meta(found).finalizers
        await c.events("EnsuredLoadBalancer")
        await c.patch_status(NODES, "one", {"conditions": [{"type": "Ready", "status": "False"}]})
        await published(c, TWO)
        await c.delete(NODES, "two")
        await published(c)
        [event] = await c.events("SyncLoadBalancerFailed")
        assert event["message"].startswith("Error syncing load balancer: no node can answer")


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": {"node.kubernetes.io/exclude-from-external-load-balancers": ""}},
        {"labels": {"sampan.dev/load-balancer": "false"}},
        {"labels": {"sampan.dev/runtime": "simulated"}},
    ],
    ids=["excluded", "label", "simulated"],
)
async def test_excluded_nodes_do_not_publish_their_addresses(metadata: Any) -> None:
    async with cluster(balancing()) as c:
        await node(c, "one", ONE, **metadata)
        await node(c, "two", TWO, "127.0.0.1")
        await service(c)
        await published(c, TWO)


async def test_a_label_limits_the_nodes() -> None:
    async with cluster(balancing()) as c:
        await two_nodes(c)
        await service(c)
        await published(c, ONE, TWO)
        await c.patch(NODES, "two", {"metadata": {"labels": {"sampan.dev/load-balancer": "true"}}})
        await published(c, TWO)


async def test_external_addresses_come_instead_of_internal_ones() -> None:
    async with cluster(balancing()) as c:
        await node(c, "one", ONE)
        listed = [{"type": "InternalIP", "address": ONE}, {"type": "ExternalIP", "address": "203.0.113.1"}]
        await c.patch_status(NODES, "one", {"addresses": listed})
        await service(c)
        await published(c, "203.0.113.1")


async def test_with_the_policy_local_only_nodes_with_ready_endpoints_are_published() -> None:
    async with cluster(balancing()) as c:
        await two_nodes(c)
        await service(c, externalTrafficPolicy="Local")
        [event] = await c.events("SyncLoadBalancerFailed")
        assert "externalTrafficPolicy: Local" in event["message"]
        endpoint = {"addresses": ["10.0.0.1"], "nodeName": "two", "conditions": {"ready": True}}
        metadata = {"name": "web-1", "labels": {"kubernetes.io/service-name": "web"}}
        await c.create(ENDPOINT_SLICES, {"metadata": metadata, "addressType": "IPv4", "endpoints": [endpoint]})
        await published(c, TWO)
        await c.patch(ENDPOINT_SLICES, "web-1", {"endpoints": []})
        await published(c)


async def test_a_used_port_is_an_event_until_it_is_free() -> None:
    async with cluster(balancing()) as c:
        await two_nodes(c)
        await service(c, "first")
        await published(c, ONE, TWO, name="first")
        await service(c, "second")
        [event] = await c.events("SyncLoadBalancerFailed")
        assert event["message"].endswith(f"port 80/TCP of {ONE} is in use: Service default/first")
        assert event["involvedObject"]["name"] == "second"
        await c.delete(SERVICES, "first")
        await published(c, ONE, TWO, name="second")


@pytest.mark.parametrize(
    ("port", "user"), [(22, "SSH"), (10250, "kubelet"), (6443, "API server"), (2379, "etcd"), (2380, "etcd")]
)
@pytest.mark.parametrize("external", ["", "203.0.113.7"], ids=["internal", "external"])
async def test_a_service_takes_no_port_of_a_program_of_the_node(port: int, user: str, external: str) -> None:
    async with cluster(balancing()) as c:
        await node(c, "one", ONE)
        listed = [{"type": "InternalIP", "address": ONE}, {"type": "ExternalIP", "address": external or ONE}]
        daemons = {"kubeletEndpoint": {"Port": 10250}}
        await c.patch_status(NODES, "one", {"daemonEndpoints": daemons, "addresses": listed})
        metadata = {"name": "kubernetes", "labels": {"kubernetes.io/service-name": "kubernetes"}}
        piece = {"metadata": metadata, "addressType": "IPv4", "ports": [{"name": "https", "port": 6443}]}
        await c.create(ENDPOINT_SLICES, {**piece, "endpoints": [{"addresses": [ONE]}]})
        await service(c, port=port)
        [event] = await c.events("SyncLoadBalancerFailed")
        assert user in event["message"]


def test_the_spelling_of_an_address_does_not_hide_its_programs() -> None:
    addresses = [{"type": "InternalIP", "address": each} for each in ("2001:DB8:0::7", "192.0.2.1")]
    status = {"addresses": addresses, "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}}
    found = BALANCER_NODE_VIEW.decode(json.encode({"metadata": {"name": "one"}, "status": status}))
    piece: Any = {"ports": [{"port": 6443}], "endpoints": [{"addresses": ["2001:0db8::0007"]}]}
    servers = on_whole_nodes(places_of_slices([piece], "API server"), [found])
    assert set(found.used_places()) == {
        AddressPort(each, ProtocolPort("TCP", 10250)) for each in found.public_addresses()
    }
    assert set(servers) == {AddressPort(each, ProtocolPort("TCP", 6443)) for each in found.public_addresses()}


async def test_a_pool_gives_each_service_its_own_address() -> None:
    async with cluster(balancing("198.51.100.1-198.51.100.2")) as c:
        await service(c, "first")
        await published(c, "198.51.100.1", name="first")
        await service(c, "second", loadBalancerIP="198.51.100.2")
        await published(c, "198.51.100.2", name="second")
        await service(c, "third")
        [event] = await c.events("SyncLoadBalancerFailed")
        assert "the pool has no free address" in event["message"]
        await c.delete(SERVICES, "first")
        await published(c, "198.51.100.1", name="third")


async def test_the_addresses_go_with_the_type_and_the_service_with_its_finalizer() -> None:
    async with cluster(balancing()) as c:
        await two_nodes(c)
        await service(c)
        await published(c, ONE, TWO)
        await c.patch(SERVICES, "web", {"spec": {"type": "ClusterIP"}})
        found = await c.until(SERVICES, "web", lambda obj: CLEANUP not in meta(obj).finalizers)
        assert (ingress(found), meta(found).annotations) == ([], {})
        await c.patch(SERVICES, "web", {"spec": {"type": "LoadBalancer"}})
        await published(c, ONE, TWO)
        await c.delete(SERVICES, "web")
        await c.until_gone(SERVICES, "web")


async def test_other_classes_are_left_to_their_controllers() -> None:
    async with cluster(balancing()) as c:
        await two_nodes(c)
        await service(c, "theirs", loadBalancerClass="example.com/lb")
        await service(c, "ours", loadBalancerClass="sampan.dev/node")
        await published(c, ONE, TWO, name="ours")
        theirs = await c.get(SERVICES, "theirs")
        assert (ingress(theirs), meta(theirs).finalizers) == ([], [])


async def test_without_the_option_published_addresses_are_given_back() -> None:
    async with connected() as (client, _):
        async with working(client, balancing()) as c:
            await two_nodes(c)
            await service(c)
            await published(c, ONE, TWO)
            theirs = {"name": "cloud", "finalizers": [CLEANUP]}
            spec = {"type": "LoadBalancer", "ports": [{"port": 81}], "loadBalancerClass": "example.com/lb"}
            await c.create(SERVICES, {"metadata": theirs, "spec": spec})
        async with working(client, service_load_balancer.set_up) as c:
            found = await published(c)
            await c.until(SERVICES, "web", lambda obj: CLEANUP not in meta(obj).finalizers)
            assert found["spec"]["type"] == "LoadBalancer"
            assert CLEANUP in meta(await c.get(SERVICES, "cloud")).finalizers
