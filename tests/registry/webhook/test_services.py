"""Resolution of services to the addresses of their pods."""

from typing import Any

import pytest

from sampan.core.object import Object
from sampan.registry.webhook.services import ServiceAddress, ServiceError, ServiceResolver

SERVICE: Object = {"spec": {"ports": [{"port": 443, "name": "https"}, {"port": 80, "name": "http"}]}}
ENDPOINTS: Object = {
    "subsets": [
        {"addresses": [{"ip": "10.0.0.9"}], "ports": [{"name": "http", "port": 8080}]},
        {"addresses": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}], "ports": [{"name": "https", "port": 8443}]},
    ]
}


def endpoint_slice(name: str = "hook", *, ready: bool | None = True, port_name: str = "https") -> Object:
    """A slice with one endpoint."""
    conditions: dict[str, Any] = {} if ready is None else {"ready": ready}
    return {
        "metadata": {"labels": {"kubernetes.io/service-name": name}},
        "ports": [{"name": port_name, "port": 9443}],
        "endpoints": [{"addresses": ["10.0.1.1"], "conditions": conditions}],
    }


class Reader:
    """A few objects."""

    def __init__(
        self, service: Object | None, endpoints: Object | None, *slices: Object, nodes: dict[str, Object] | None = None
    ) -> None:
        self._found = {"services": service, "endpoints": endpoints}
        self._nodes = nodes or {}
        self._slices = list(slices)

    def get(self, group: str, resource: str, namespace: str, name: str) -> Object | None:
        """One of them."""
        return self._nodes.get(name) if resource == "nodes" else self._found[resource]

    def list(self, group: str, resource: str, namespace: str = "") -> list[Object]:
        """The slices."""
        return self._slices


@pytest.mark.parametrize(
    ("reader", "expected"),
    [
        pytest.param(Reader(SERVICE, ENDPOINTS), ("10.0.0.1", 8443), id="endpoints"),
        pytest.param(Reader(SERVICE, ENDPOINTS, endpoint_slice()), ("10.0.1.1", 9443), id="slice"),
        pytest.param(Reader(SERVICE, ENDPOINTS, endpoint_slice("other")), ("10.0.0.1", 8443), id="other service"),
        pytest.param(Reader(SERVICE, ENDPOINTS, endpoint_slice(ready=False)), ("10.0.0.1", 8443), id="not ready"),
        pytest.param(Reader(SERVICE, None, endpoint_slice(ready=None)), ("10.0.1.1", 9443), id="ready by default"),
        pytest.param(Reader(SERVICE, ENDPOINTS, endpoint_slice(port_name="x")), ("10.0.0.1", 8443), id="other port"),
        pytest.param(
            Reader({"spec": {"type": "ExternalName", "externalName": "hook.example"}}, None),
            ("hook.example", 443),
            id="external name",
        ),
    ],
)
def test_a_service_is_resolved(reader: Reader, expected: tuple[str, int]) -> None:
    assert ServiceResolver(reader)("default", "hook", 443)[0] == ServiceAddress(*expected)


@pytest.mark.parametrize(
    ("reader", "port", "text"),
    [
        (Reader(None, None), 443, 'service "hook" not found'),
        (Reader(SERVICE, None), 443, 'no endpoints available for service "hook"'),
        (Reader(SERVICE, ENDPOINTS), 444, 'no service port 444 found for service "hook"'),
    ],
    ids=["no service", "no endpoints", "no port"],
)
def test_an_unreachable_service_raises_with_the_reason(reader: Reader, port: int, text: str) -> None:
    with pytest.raises(ServiceError) as error:
        ServiceResolver(reader)("default", "hook", port)
    assert str(error.value) == text


def test_all_ready_endpoints_of_a_service_are_found() -> None:
    resolver = ServiceResolver(Reader(SERVICE, ENDPOINTS, endpoint_slice(), endpoint_slice(ready=False)))
    expected = [ServiceAddress("10.0.1.1", 9443), ServiceAddress("10.0.0.1", 8443), ServiceAddress("10.0.0.2", 8443)]
    assert resolver("default", "hook", 443) == expected


def test_each_call_begins_with_the_next_address() -> None:
    resolver = ServiceResolver(Reader(SERVICE, None, on_nodes(a="10.0.1.1", b="10.0.1.2")))
    found = [[each.node for each in resolver("default", "hook", 443)] for _ in range(3)]
    assert found == [["a", "b"], ["b", "a"], ["a", "b"]]


def test_an_address_of_a_slice_and_of_endpoints_is_one_place_with_its_node() -> None:
    mirrored = on_nodes(a="10.0.0.1")
    mirrored["ports"][0]["port"] = 8443
    found = ServiceResolver(Reader(SERVICE, ENDPOINTS, mirrored))("default", "hook", 443)
    assert found == [ServiceAddress("10.0.0.1", 8443, "a"), ServiceAddress("10.0.0.2", 8443)]


def on_nodes(**addresses: str) -> Object:
    """Return a slice with an endpoint on each Node."""
    found = endpoint_slice()
    found["endpoints"] = [{"addresses": [address], "nodeName": node} for node, address in addresses.items()]
    return found


SIMULATED: Object = {"metadata": {"labels": {"sampan.dev/runtime": "simulated"}}}


def test_of_simulated_and_real_pods_only_the_real_ones_are_used() -> None:
    slices = on_nodes(sim="198.51.100.1", real="198.51.100.2"), on_nodes(gone="198.51.100.3")
    resolver = ServiceResolver(Reader(SERVICE, None, *slices, nodes={"sim": SIMULATED, "real": {"metadata": {}}}))
    expected = [ServiceAddress("198.51.100.2", 9443, "real"), ServiceAddress("198.51.100.3", 9443, "gone")]
    assert resolver("default", "hook", 443) == expected


def test_a_service_of_simulated_pods_is_an_error_with_a_hint() -> None:
    resolver = ServiceResolver(Reader(SERVICE, None, on_nodes(sim="198.51.100.1"), nodes={"sim": SIMULATED}))
    with pytest.raises(ServiceError, match=r'every pod of service "hook" is simulated.*--node-runtime process or cri'):
        resolver("default", "hook", 443)


def test_the_runtime_that_a_node_reports_counts_more_than_its_label() -> None:
    node = {**SIMULATED, "status": {"nodeInfo": {"containerRuntimeVersion": "containerd://2.1.0"}}}
    resolver = ServiceResolver(Reader(SERVICE, None, on_nodes(real="198.51.100.1"), nodes={"real": node}))
    assert resolver("default", "hook", 443) == [ServiceAddress("198.51.100.1", 9443, "real")]
