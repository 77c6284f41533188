"""Tests of EndpointSlices: endpoints, packing, hints, placeholders."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.component_base.resources import ENDPOINT_SLICES, NODES, PODS, SERVICES
from sampan.component_base.views import POD_VIEW, Pod
from sampan.controllers import endpoint_slices
from sampan.controllers.endpoint_slices.controller import set_hints
from sampan.controllers.endpoint_slices.endpoint import address_types, endpoint_of, ports_of
from sampan.controllers.endpoint_slices.packing import SliceChanges, endpoint_key, endpoints_of, pack, ports_key
from sampan.controllers.endpoint_slices.service_pods import belongs, find_port
from sampan.controllers.endpoint_slices.trigger_time import ANNOTATION, TriggerTimes
from sampan.resource import meta
from sampan.wire import json
from tests.controllers.cluster import Working, cluster

LABELS = {"app": "a"}
CONTAINERS = [{"name": "c", "image": "i", "ports": [{"name": "web", "containerPort": 8080, "protocol": "TCP"}]}]


def service(name: str = "s", **spec: object) -> Any:
    """A Service of the Pods with the labels."""
    ports = [{"name": "http", "port": 80, "targetPort": "web", "protocol": "TCP"}]
    return {"metadata": {"name": name}, "spec": {"selector": LABELS, "ports": ports, **spec}}


def pod_view(ready: bool = True, **fields: Any) -> Pod:
    """A view of a Pod."""
    pod = {
        "metadata": {"name": "p", "namespace": "default", "uid": "u", **fields.get("metadata", {})},
        "spec": {"nodeName": "n", "containers": CONTAINERS, **fields.get("spec", {})},
        "status": {
            "podIP": "10.0.0.1",
            "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            **fields.get("status", {}),
        },
    }
    return POD_VIEW.decode(json.encode(pod))


DELETING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("pod", "tolerant", "expected"),
    [
        (pod_view(), False, (True, True, False)),
        (pod_view(ready=False), False, (False, False, False)),
        (pod_view(metadata=DELETING), False, (False, True, True)),
        (pod_view(ready=False), True, (True, False, False)),
        (pod_view(metadata=DELETING), True, (True, True, True)),
    ],
    ids=["ready", "not ready", "terminating", "not ready, published", "terminating, published"],
)
def test_conditions_of_an_endpoint(pod: Pod, tolerant: bool, expected: tuple[bool, bool, bool]) -> None:
    endpoint = endpoint_of(pod, "z", service(publishNotReadyAddresses=tolerant), "IPv4")
    assert endpoint is not None
    conditions = endpoint["conditions"]
    assert (conditions["ready"], conditions["serving"], conditions["terminating"]) == expected


def test_an_endpoint_has_the_pods_identity_and_location() -> None:
    endpoint = endpoint_of(pod_view(spec={"hostname": "h", "subdomain": "s"}), "z", service(), "IPv6")
    assert endpoint == {
        "addresses": ["fd00::1"],
        "conditions": {"ready": True, "serving": True, "terminating": False},
        "targetRef": {"kind": "Pod", "namespace": "default", "name": "p", "uid": "u"},
        "nodeName": "n",
        "zone": "z",
        "hostname": "h",
    }


def test_a_pod_without_an_address_of_the_family_is_not_an_endpoint() -> None:
    assert endpoint_of(pod_view(status={"podIPs": [{"ip": "10.0.0.1"}]}), "", service(), "IPv6") is None


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        (pod_view(), True),
        (pod_view(ready=False), True),
        (pod_view(status={"phase": "Failed"}), False),
        (pod_view(status={"podIP": "", "podIPs": []}), False),
    ],
    ids=["ready", "not ready", "failed", "without address"],
)
def test_pods_with_an_address_that_have_not_ended_are_endpoints(pod: Pod, expected: bool) -> None:
    assert belongs(pod, include_terminating=True) is expected


def test_terminating_pods_are_endpoints_only_on_request() -> None:
    pod = pod_view(metadata=DELETING)
    assert (belongs(pod, include_terminating=True), belongs(pod, include_terminating=False)) == (True, False)


SIDECAR = {"name": "s", "restartPolicy": "Always", "ports": [{"name": "side", "containerPort": 9}]}


@pytest.mark.parametrize(
    ("port", "number"),
    [
        ({"port": 80, "targetPort": 81}, 81),
        ({"port": 80}, 80),
        ({"port": 80, "targetPort": "web"}, 8080),
        ({"port": 80, "targetPort": "web", "protocol": "UDP"}, None),
        ({"port": 80, "targetPort": "side"}, 9),
        ({"port": 80, "targetPort": "init"}, None),
    ],
)
def test_ports_are_found_by_number_or_name(port: Any, number: int | None) -> None:
    init = {"name": "i", "ports": [{"name": "init", "containerPort": 1}]}
    assert find_port(port, pod_view(spec={"initContainers": [init, SIDECAR]})) == number


def test_ports_that_a_pod_lacks_are_left_out() -> None:
    ports = [{"name": "a", "port": 80, "targetPort": "web", "appProtocol": "h2c"}, {"port": 81, "targetPort": "no"}]
    expected = [{"name": "a", "port": 8080, "protocol": "TCP", "appProtocol": "h2c"}]
    assert ports_of(service(ports=ports), pod_view()) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"ipFamilies": ["IPv6", "IPv4"]}, ["IPv6", "IPv4"]),
        ({"clusterIP": "10.0.0.1"}, ["IPv4"]),
        ({"clusterIP": "fd00::1"}, ["IPv6"]),
        ({"clusterIP": "None"}, ["IPv4", "IPv6"]),
    ],
)
def test_address_families_of_a_service(spec: Any, expected: list[str]) -> None:
    assert address_types(service(**spec)) == expected


def endpoints(*numbers: int) -> list[Any]:
    """Some endpoints."""
    return [{"addresses": [f"10.0.0.{number}"]} for number in numbers]


def make() -> Any:
    """An empty slice."""
    return {"metadata": {"labels": LABELS}, "endpoints": []}


def filled(name: str, *numbers: int) -> Any:
    """A slice."""
    return {"metadata": {"name": name, "labels": LABELS}, "endpoints": endpoints(*numbers)}


def after(slices: list[Any], changes: SliceChanges) -> list[list[str]]:
    """Return the addresses in each slice after the changes."""
    gone = [id(each) for each in changes.delete] + [id(update.before) for update in changes.update]
    left = [each for each in slices if id(each) not in gone]
    left += [update.after for update in changes.update] + changes.create
    return [[each["addresses"][0] for each in endpoints_of(slice)] for slice in left]


def test_correct_slices_do_not_change() -> None:
    assert pack([filled("x", 1, 2)], endpoints(2, 1), make, 3) == SliceChanges()


def test_changed_slices_are_filled_first() -> None:
    slices = [filled("x", 1, 2), filled("y", 3)]
    changes = pack(slices, endpoints(1, 3, 4), make, 3)
    assert [meta(update.before).name for update in changes.update] == ["x"]
    assert after(slices, changes) == [["10.0.0.3"], ["10.0.0.1", "10.0.0.4"]]


def test_remaining_endpoints_go_into_the_fullest_slice_with_room() -> None:
    slices = [filled("x", 1), filled("y", 2, 3)]
    changes = pack(slices, endpoints(1, 2, 3, 4), make, 3)
    assert after(slices, changes) == [["10.0.0.1"], ["10.0.0.2", "10.0.0.3", "10.0.0.4"]]


def test_a_slice_without_desired_endpoints_is_deleted_or_recycled() -> None:
    slices = [filled("x", 1)]
    changes = pack(slices, endpoints(2), make, 3)
    assert (changes.delete, len(changes.create)) == (slices, 1)
    changes.recycle()
    assert (changes.delete, changes.create, len(changes.update)) == ([], [], 1)
    assert changes.update[0].after["metadata"] == slices[0]["metadata"]


def test_changed_labels_are_written() -> None:
    slice = filled("x", 1)
    slice["metadata"]["labels"] = {"old": "label"}
    [update] = pack([slice], endpoints(1), make, 3).update
    assert update.after["metadata"]["labels"] == LABELS


@given(
    there=st.lists(st.sets(st.integers(1, 30), max_size=5), max_size=5),
    desired=st.sets(st.integers(1, 30)),
)
def test_packing_has_each_endpoint_once_in_slices_of_bounded_size(there: list[set[int]], desired: set[int]) -> None:
    slices = [filled(str(name), *numbers) for name, numbers in enumerate(there)]
    found = after(slices, pack(slices, endpoints(*desired), make, 5))
    assert sorted(each for slice in found for each in slice) == sorted(f"10.0.0.{number}" for number in desired)
    assert all(len(slice) <= 5 for slice in found)


def test_keys_do_not_depend_on_order() -> None:
    a: Any = {"name": "a", "port": 1}
    b: Any = {"name": "b", "port": 2, "protocol": "UDP"}
    in_full: Any = {**a, "protocol": "TCP"}
    assert ports_key([a, b]) == ports_key([b, in_full])
    assert endpoint_key({"addresses": ["x", "y"]}) == endpoint_key({"addresses": ["y", "x"]})


CLOSE = {"addresses": ["1.2.3.4"], "zone": "z", "nodeName": "n", "conditions": {"ready": True}}
ZONE = {"forZones": [{"name": "z"}]}


@pytest.mark.parametrize(
    ("distribution", "hints"),
    [
        (None, None),
        ("PreferClose", ZONE),
        ("PreferSameZone", ZONE),
        ("PreferSameNode", {**ZONE, "forNodes": [{"name": "n"}]}),
    ],
)
def test_hints_follow_the_traffic_distribution(distribution: str | None, hints: Any | None) -> None:
    slice: Any = {"metadata": {"name": "x"}, "endpoints": [{**CLOSE, "hints": {"forZones": [{"name": "old"}]}}]}
    changes = SliceChanges()
    set_hints(changes, [slice], distribution)
    assert changes.update[0].after["endpoints"][0].get("hints") == hints
    again = SliceChanges()
    set_hints(again, [changes.update[0].after], distribution)
    assert again == SliceChanges()


def test_the_trigger_time_is_that_of_the_first_change() -> None:
    times = TriggerTimes()
    owner: Any = {"metadata": {"name": "s", "namespace": "d", "creationTimestamp": "2026-01-01T00:00:00Z"}}

    def ready(time: str) -> Pod:
        return pod_view(status={"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": time}]})

    assert times.last(owner, [ready("2026-01-01T00:00:05Z")]) == "2026-01-01T00:00:00Z"
    assert times.last(owner, [ready("2026-01-01T00:00:05Z")]) == ""
    assert times.last(owner, [ready("2026-01-01T00:00:07Z")]) == "2026-01-01T00:00:07Z"


async def node(c: Working, name: str = "n", zone: str = "z") -> None:
    """A Node."""
    await c.create(NODES, {"metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone}}})


async def pod(c: Working, name: str, ip: str) -> None:
    """A ready Pod on the node."""
    spec = {"containers": CONTAINERS, "nodeName": "n"}
    made = await c.create(PODS, {"metadata": {"name": name, "labels": LABELS}, "spec": spec})
    await c.patch_status(PODS, name, {"podIP": ip, "podIPs": [{"ip": ip}]})
    await c.make_ready(made)


def addresses(slices: list[Any]) -> list[str]:
    """Return all addresses in slices."""
    return sorted(each["addresses"][0] for slice in slices for each in endpoints_of(slice))


async def test_a_service_has_a_slice_with_its_pods() -> None:
    async with cluster(endpoint_slices.set_up) as c:
        await node(c)
        await pod(c, "x", "10.1.0.1")
        owner = await c.create(SERVICES, service() | {"metadata": {"name": "s", "labels": {"l": "v"}}})
        [slice] = await c.until_all(ENDPOINT_SLICES, lambda found: addresses(found) == ["10.1.0.1"])
        assert meta(slice).labels == {
            "l": "v",
            "kubernetes.io/service-name": "s",
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        }
        [reference] = meta(slice).owner_references
        assert (reference.kind, reference.uid, reference.controller) == ("Service", meta(owner).uid, True)
        assert slice["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
        assert slice["addressType"] == "IPv4"
        [endpoint] = slice["endpoints"]
        assert (endpoint["zone"], endpoint["nodeName"], endpoint["targetRef"]["name"]) == ("z", "n", "x")
        assert meta(slice).name.startswith("s-")
        assert ANNOTATION in meta(slice).annotations


async def test_slices_follow_the_pods() -> None:
    async with cluster(endpoint_slices.set_up) as c:
        await node(c)
        await c.create(SERVICES, service())
        created: list[Any] = await c.until_all(ENDPOINT_SLICES, lambda found: found)
        [placeholder] = created
        assert (endpoints_of(placeholder), placeholder.get("ports") or []) == ([], [])
        await pod(c, "x", "10.1.0.1")
        await pod(c, "y", "10.1.0.2")
        [slice] = await c.until_all(ENDPOINT_SLICES, lambda found: addresses(found) == ["10.1.0.1", "10.1.0.2"])
        assert meta(slice).name == meta(placeholder).name
        await c.patch_status(PODS, "x", {"conditions": [{"type": "Ready", "status": "False"}]})

        def one_is_unready(found: list[Any]) -> bool:
            return [each["conditions"]["ready"] for each in endpoints_of(found[0])].count(False) == 1

        await c.until_all(ENDPOINT_SLICES, one_is_unready)
        await c.patch(PODS, "x", {"metadata": {"labels": {"app": "b"}}})
        await c.until_all(ENDPOINT_SLICES, lambda found: addresses(found) == ["10.1.0.2"])


async def test_more_than_a_hundred_endpoints_take_several_slices() -> None:
    async with cluster(endpoint_slices.set_up) as c:
        await node(c)
        for number in range(105):
            await pod(c, f"p{number}", f"10.1.0.{number}")
        await c.create(SERVICES, service())
        found: list[Any] = await c.until_all(ENDPOINT_SLICES, lambda found: len(addresses(found)) == 105)
        assert sorted(len(endpoints_of(slice)) for slice in found) == [5, 100]


async def test_pods_on_missing_nodes_are_left_out_until_the_node_exists() -> None:
    async with cluster(endpoint_slices.set_up) as c:
        await pod(c, "x", "10.1.0.1")
        await c.create(SERVICES, service())
        event, *_ = await c.events("FailedToUpdateEndpointSlices")
        assert "skipping Pod x for Service default/s: Node n Not Found" in event["message"]
        await node(c)
        await c.until_all(ENDPOINT_SLICES, lambda found: addresses(found) == ["10.1.0.1"])


async def test_slices_of_a_headless_service_are_labelled_and_need_a_selector() -> None:
    async with cluster(endpoint_slices.set_up) as c:
        await c.create(SERVICES, service("none", selector=None))
        await c.create(SERVICES, service("s", clusterIP="None"))
        [slice] = await c.until_all(ENDPOINT_SLICES, lambda found: found)
        assert meta(slice).labels["service.kubernetes.io/headless"] == ""


async def test_a_deleted_slice_is_created_again() -> None:
    async with cluster(endpoint_slices.set_up) as c:
        await c.create(SERVICES, service())
        [slice] = await c.until_all(ENDPOINT_SLICES, lambda found: found)
        await c.delete(ENDPOINT_SLICES, meta(slice).name)
        await c.until_all(ENDPOINT_SLICES, lambda found: found and meta(found[0]).uid != meta(slice).uid)
