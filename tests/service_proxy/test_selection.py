"""Choice of the endpoints that get traffic."""

import msgspec
import pytest

from sampan.resource import ObjectMeta
from sampan.service_proxy.endpoints import PortName, ServiceEndpoint, endpoints_of
from sampan.service_proxy.family import IPV4, IPV6
from sampan.service_proxy.selection import select
from sampan.service_proxy.service_ports import proxied_ports
from sampan.service_proxy.views import (
    ClientIP,
    EndpointSlice,
    Hints,
    Named,
    Service,
    ServicePort,
    ServiceSpec,
    SessionAffinityConfig,
    SliceEndpoint,
    SlicePort,
)
from tests.service_proxy.objects import NODE, endpoint, piece, port, service


def chosen(*endpoints: ServiceEndpoint) -> list[ServiceEndpoint]:
    return list(select(port(), endpoints, NODE).cluster)


def test_only_ready_endpoints_get_traffic() -> None:
    ready, starting = endpoint(2), endpoint(3, ready=False, serving=False)
    assert chosen(ready, starting) == [ready]


def test_terminating_endpoints_that_serve_are_the_last_resort() -> None:
    ending = endpoint(2, ready=False, terminating=True)
    ended = endpoint(3, ready=False, serving=False, terminating=True)
    assert chosen(ending, ended) == [ending]
    assert chosen(ending, endpoint(4)) == [endpoint(4)]


def test_the_policy_local_has_its_own_last_resort() -> None:
    ending, elsewhere = endpoint(2, ready=False, terminating=True), endpoint(3, local=False)
    found = select(port(node_port=30080, external_local=True), [ending, elsewhere], NODE)
    assert (found.cluster, found.local) == ((elsewhere,), (ending,))


@pytest.mark.parametrize(
    ("endpoints", "numbers"),
    [
        pytest.param([endpoint(2, zones=("zone-1",)), endpoint(3, zones=("zone-2",))], [2], id="zone"),
        pytest.param([endpoint(2, zones=("zone-1",)), endpoint(3)], [2, 3], id="a hint is missing"),
        pytest.param([endpoint(2, zones=("zone-3",)), endpoint(3, zones=("zone-2",))], [2, 3], id="no hint for it"),
        pytest.param(
            [
                endpoint(2, zones=("zone-1",), nodes=("node-b",)),
                endpoint(3, zones=("zone-1",), nodes=("node-a",)),
            ],
            [3],
            id="node before zone",
        ),
    ],
)
def test_hints_choose_near_endpoints_if_all_have_them(endpoints: list[ServiceEndpoint], numbers: list[int]) -> None:
    assert [int(each.address.rpartition(".")[2]) for each in chosen(*endpoints)] == numbers


def test_an_endpoint_in_two_slices_counts_once_and_the_ready_one_counts() -> None:
    found = endpoints_of([piece("10.244.1.2", ready=False), piece("10.244.1.2")], IPV4, "node-a")
    assert found == {PortName("", "TCP"): (endpoint(2),)}


def test_slices_of_the_other_family_and_ports_without_a_number_are_left_out() -> None:
    unnumbered = EndpointSlice(endpoints=(SliceEndpoint(("10.244.1.2",)),), ports=(SlicePort(),))
    assert endpoints_of([unnumbered], IPV4, "node-a") == {}
    assert endpoints_of([piece("10.244.1.2")], IPV6, "node-a") == {}


def test_hints_are_read_from_slices() -> None:
    hints = Hints(for_zones=(Named("zone-1"),), for_nodes=(Named("node-a"),))
    hinted = EndpointSlice(
        endpoints=(SliceEndpoint(("10.244.1.2",), hints=hints),), ports=(SlicePort("", "TCP", 8080),)
    )
    found = endpoints_of([hinted], IPV4, "node-a")[PortName("", "TCP")][0]
    assert (found.zones, found.nodes, found.local) == (("zone-1",), ("node-a",), False)


def test_simulated_pods_get_no_traffic() -> None:
    found = endpoints_of([piece("250.0.0.2", "10.244.0.2")], IPV4, "n1")
    assert [each.address for endpoints in found.values() for each in endpoints] == ["10.244.0.2"]


def test_pods_of_simulated_nodes_are_left_out_whatever_their_address() -> None:
    slices = [piece("10.244.1.2"), piece("10.244.1.3")]  # both on node-a
    assert endpoints_of(slices, IPV4, "n1", {"node-a"}) == {PortName("", "TCP"): ()}
    assert len(endpoints_of(slices, IPV4, "n1", {"node-b"})[PortName("", "TCP")]) == 2


@pytest.mark.parametrize("number", [-5, 0, 65_536, 2**31 - 1])
def test_number_of_a_slice_that_is_no_port_is_left_out(number: int) -> None:
    """The API accepts any number. The kernel would refuse the rules of all Services."""
    wrong = msgspec.structs.replace(piece("10.244.1.2"), ports=(SlicePort("", "TCP", number),))
    assert endpoints_of([wrong], IPV4, "node-a") == {}


@pytest.mark.parametrize("name", ["", "a\nflush ruleset", "a; flush", "{", "$x", "A", "a b", "a" * 254])
def test_service_whose_name_is_not_one_of_kubernetes_has_no_rules(name: str) -> None:
    assert list(proxied_ports(service(name, "10.96.0.10"), IPV4)) == []


@pytest.mark.parametrize(("seconds", "used"), [(-1, 0), (86_400, 86_400), (2**40, 86_400)])
def test_affinity_is_a_time_that_the_kernel_accepts(seconds: int, used: int) -> None:
    config = SessionAffinityConfig(ClientIP(seconds))
    found = service("web", "10.96.0.10", session_affinity="ClientIP", session_affinity_config=config)
    assert [each.affinity_s for each in proxied_ports(found, IPV4)] == [used]


@pytest.mark.parametrize("number", [-1, 0, 65_536])
def test_port_of_a_service_is_a_port(number: int) -> None:
    spec = ServiceSpec(type="NodePort", cluster_ips=("10.96.0.10",), ports=(ServicePort(port=number),))
    assert list(proxied_ports(Service(ObjectMeta(name="web", namespace="default"), spec), IPV4)) == []
    ports = (ServicePort(port=80, node_port=number),)
    found = Service(ObjectMeta(name="web", namespace="default"), msgspec.structs.replace(spec, ports=ports))
    assert [each.node_port for each in proxied_ports(found, IPV4)] == [0]
