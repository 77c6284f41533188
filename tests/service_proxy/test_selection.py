"""Choice of the endpoints that get traffic."""

import pytest

from sampan.service_proxy.endpoints import Endpoint, PortName, endpoints_of
from sampan.service_proxy.family import IPV4, IPV6
from sampan.service_proxy.selection import select
from sampan.service_proxy.views import EndpointSlice, Hints, Named, SliceEndpoint, SlicePort
from tests.service_proxy.objects import NODE, endpoint, piece, port


def chosen(*endpoints: Endpoint) -> list[Endpoint]:
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
def test_hints_choose_near_endpoints_if_all_have_them(endpoints: list[Endpoint], numbers: list[int]) -> None:
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
