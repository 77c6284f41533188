"""Tests of Endpoints, and of EndpointSlices that mirror custom Endpoints."""

from typing import Any

import pytest

from sampan.component_base.resources import ENDPOINT_SLICES, ENDPOINTS, PODS, SERVICES
from sampan.controllers import endpoint_slice_mirroring, endpoints
from sampan.controllers.endpoint_slice_mirroring import MANAGER, changes_for, is_mirrored, mirror_of
from sampan.controllers.endpoint_slices.trigger_time import ANNOTATION
from sampan.controllers.endpoints.controller import LEADER_ANNOTATION, MANAGED_BY_LABEL, OVER_CAPACITY
from sampan.controllers.endpoints.subsets import in_order, subsets_of, truncated
from sampan.resource import meta
from tests.controllers.cluster import Working, cluster, working
from tests.controllers.test_endpoint_slices import CONTAINERS, DELETING, LABELS, pod_view, service

ADDRESS = {"ip": "10.0.0.1", "targetRef": {"kind": "Pod", "namespace": "default", "name": "p", "uid": "u"}}
WEB = {"name": "http", "port": 8080, "protocol": "TCP"}


def test_ready_and_unready_pods_are_in_one_subset() -> None:
    one, other = pod_view(), pod_view(ready=False, metadata={"name": "q"}, status={"podIP": "10.0.0.2", "podIPs": []})
    [subset] = subsets_of(service(clusterIP="10.9.9.9"), [one, other])
    assert subset["addresses"] == [{**ADDRESS, "nodeName": "n"}]
    assert [each["ip"] for each in subset["notReadyAddresses"]] == ["10.0.0.2"]
    assert subset["ports"] == [WEB]


def test_pods_with_other_ports_are_in_other_subsets() -> None:
    other = pod_view(metadata={"name": "q"}, spec={"containers": [{"ports": [{"name": "web", "containerPort": 9}]}]})
    found = subsets_of(service(clusterIP="10.9.9.9"), [pod_view(), other])
    assert [subset["ports"][0]["port"] for subset in found] == [9, 8080]


@pytest.mark.parametrize(("tolerant", "count"), [(False, 0), (True, 1)])
def test_terminating_pods_are_published_only_with_all_not_ready_ones(tolerant: bool, count: int) -> None:
    owner = service(clusterIP="10.9.9.9", publishNotReadyAddresses=tolerant)
    assert len(subsets_of(owner, [pod_view(ready=False, metadata=DELETING)])) == count


def test_only_headless_services_may_have_no_ports() -> None:
    [subset] = subsets_of(service(clusterIP="None", ports=[]), [pod_view()])
    assert "ports" not in subset
    assert subsets_of(service(clusterIP="10.9.9.9", ports=[]), [pod_view()]) == []


def test_the_address_has_the_first_family() -> None:
    [subset] = subsets_of(service(clusterIP="None", ipFamilies=["IPv6", "IPv4"]), [pod_view()])
    assert subset["addresses"][0]["ip"] == "fd00::1"


def test_the_order_does_not_depend_on_the_order_of_pods() -> None:
    pods = [pod_view(metadata={"name": str(n)}, status={"podIP": f"10.0.0.{n}", "podIPs": []}) for n in (10, 9)]
    owner = service(clusterIP="10.9.9.9")
    found = in_order(subsets_of(owner, pods))
    assert found == in_order(subsets_of(owner, reversed(pods)))
    assert [each["ip"] for each in found[0]["addresses"]] == ["10.0.0.9", "10.0.0.10"]


def many(ready: int, not_ready: int) -> Any:
    """A subset."""
    return {
        "addresses": [{"ip": f"r{n}"} for n in range(ready)],
        "notReadyAddresses": [{"ip": f"n{n}"} for n in range(not_ready)],
        "ports": [WEB],
    }


@pytest.mark.parametrize(
    ("subsets", "left"),
    [
        ([(600, 400)], None),
        ([(900, 200)], [(900, 100)]),
        ([(800, 100), (600, 100)], [(572, 0), (428, 0)]),
        ([(100, 600), (100, 600)], [(100, 400), (100, 400)]),
    ],
    ids=["fits", "unready ones are dropped first", "ready in proportion", "unready in proportion"],
)
def test_surplus_addresses_are_truncated(subsets: list[tuple[int, int]], left: list[tuple[int, int]] | None) -> None:
    found = truncated([many(*counts) for counts in subsets])
    counts = (
        None if found is None else [(len(s.get("addresses", ())), len(s.get("notReadyAddresses", ()))) for s in found]
    )
    assert counts == left
    assert not found or all(subset["ports"] == [WEB] for subset in found)


async def pod(c: Working, name: str, ip: str) -> None:
    """A ready Pod."""
    made = await c.create(PODS, {"metadata": {"name": name, "labels": LABELS}, "spec": {"containers": CONTAINERS}})
    await c.patch_status(PODS, name, {"podIP": ip, "podIPs": [{"ip": ip}]})
    await c.make_ready(made)


async def test_a_service_has_endpoints_until_it_is_deleted() -> None:
    async with cluster(endpoints.set_up) as c:
        await c.create(SERVICES, service() | {"metadata": {"name": "s", "labels": {"l": "v"}}})
        await c.until(ENDPOINTS, "s", lambda e: not e.get("subsets"))
        await pod(c, "x", "10.1.0.1")
        found = await c.until(ENDPOINTS, "s", lambda e: e.get("subsets") and e["subsets"][0].get("addresses"))
        assert found["subsets"][0]["ports"] == [WEB]
        assert meta(found).labels == {"l": "v", MANAGED_BY_LABEL: "endpoint-controller"}
        assert set(meta(found).annotations) == {ANNOTATION}
        await c.delete(SERVICES, "s")
        await c.until_gone(ENDPOINTS, "s")


async def test_deleted_endpoints_are_created_again() -> None:
    async with cluster(endpoints.set_up) as c:
        await c.create(SERVICES, service())
        first = await c.until(ENDPOINTS, "s", lambda _: True)
        await c.delete(ENDPOINTS, "s")
        await c.until(ENDPOINTS, "s", lambda e: meta(e).uid != meta(first).uid)


async def test_endpoints_of_deleted_services_are_deleted_at_the_start_except_locks() -> None:
    async with cluster() as c:
        await c.create(ENDPOINTS, {"metadata": {"name": "left"}})
        await c.create(ENDPOINTS, {"metadata": {"name": "lock", "annotations": {LEADER_ANNOTATION: "{}"}}})
        async with working(c.client, endpoints.set_up):
            await c.until_gone(ENDPOINTS, "left")
            await c.create(ENDPOINTS, {"metadata": {"name": "early"}})
            await c.create(SERVICES, service())
            await c.until(ENDPOINTS, "s", lambda _: True)
        assert await c.exists(ENDPOINTS, "lock")
        assert await c.exists(ENDPOINTS, "early")


async def test_surplus_endpoints_are_truncated_and_annotated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.controllers.endpoints.subsets.CAPACITY_MAX", 1)
    async with cluster(endpoints.set_up) as c:
        await pod(c, "x", "10.1.0.1")
        await pod(c, "y", "10.1.0.2")
        await c.create(SERVICES, service())
        found = await c.until(ENDPOINTS, "s", lambda e: OVER_CAPACITY in meta(e).annotations)
        assert meta(found).annotations[OVER_CAPACITY] == "truncated"
        assert [each["ip"] for each in found["subsets"][0]["addresses"]] == ["10.1.0.1"]
        await c.patch(PODS, "x", {"metadata": {"labels": {"app": "b"}}})
        fits = await c.until(ENDPOINTS, "s", lambda e: OVER_CAPACITY not in meta(e).annotations)
        assert [each["ip"] for each in fits["subsets"][0]["addresses"]] == ["10.1.0.2"]


def custom(*ips: str, **metadata: object) -> Any:
    """Custom Endpoints."""
    subset = {"addresses": [{"ip": ip} for ip in ips], "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": "s", "uid": "u", **metadata},
        "subsets": [subset],
    }


@pytest.mark.parametrize(
    ("written", "of", "expected"),
    [
        (custom("1.2.3.4"), {"spec": {}}, True),
        (custom("1.2.3.4"), None, False),
        (custom("1.2.3.4"), {"spec": {"selector": LABELS}}, False),
        (custom("1.2.3.4", labels={"endpointslice.kubernetes.io/skip-mirror": "true"}), {"spec": {}}, False),
        (custom("1.2.3.4", annotations={LEADER_ANNOTATION: "{}"}), {"spec": {}}, False),
    ],
    ids=["own", "no service", "selector", "skipped", "lock"],
)
def test_only_custom_endpoints_are_mirrored(written: Any, of: Any | None, expected: bool) -> None:
    assert is_mirrored(written, of) is expected


def test_each_family_has_a_slice_and_invalid_addresses_are_left_out() -> None:
    mirror = mirror_of(custom("1.2.3.4", "fd00::2", "nonsense"))
    assert sorted(family for family, _ in mirror.groups) == ["IPv4", "IPv6"]
    assert (mirror.invalid, mirror.skipped) == (1, 1)


def test_up_to_a_thousand_addresses_of_a_subset_are_mirrored() -> None:
    mirror = mirror_of(custom(*(f"10.0.{n // 250}.{n % 250}" for n in range(1001))))
    [(_, found)] = mirror.groups.values()
    assert (len(found), mirror.invalid, mirror.skipped) == (1000, 0, 1)


def test_a_correct_mirror_is_not_changed() -> None:
    written = custom("1.2.3.4", labels={"a": "b"}, annotations={"c": "d", ANNOTATION: "x"})
    [made] = changes_for(written, mirror_of(written), []).create
    assert meta(made).annotations == {"c": "d"}
    changes = changes_for(written, mirror_of(written), [made])
    assert (changes.create, changes.update, changes.delete) == ([], [], [])


async def test_mirrors_follow_custom_endpoints() -> None:
    async with cluster(endpoint_slice_mirroring.set_up) as c:
        await c.create(SERVICES, service(selector=None))
        await c.create(ENDPOINTS, custom("1.2.3.4"))
        [slice] = await c.until_all(ENDPOINT_SLICES, lambda found: found)
        assert meta(slice).labels["endpointslice.kubernetes.io/managed-by"] == MANAGER
        assert meta(slice).owner_references[0].kind == "Endpoints"
        assert slice["endpoints"] == [{"addresses": ["1.2.3.4"], "conditions": {"ready": True}}]
        subsets = custom("1.2.3.5")["subsets"]
        await c.patch(ENDPOINTS, "s", {"subsets": subsets, "metadata": {"annotations": {"a": "b"}}})
        changed = await c.until(
            ENDPOINT_SLICES, meta(slice).name, lambda s: s["endpoints"][0]["addresses"] == ["1.2.3.5"]
        )
        assert meta(changed).annotations == {"a": "b"}
        await c.patch(SERVICES, "s", {"spec": {"selector": LABELS}})
        await c.until_gone(ENDPOINT_SLICES, meta(slice).name)


async def test_a_mirror_is_deleted_with_its_endpoints() -> None:
    async with cluster(endpoint_slice_mirroring.set_up) as c:
        await c.create(SERVICES, service(selector=None))
        await c.create(ENDPOINTS, custom("1.2.3.4", "fd00::1"))
        await c.until_all(ENDPOINT_SLICES, lambda found: len(found) == 2)
        await c.delete(ENDPOINTS, "s")
        await c.until_all(ENDPOINT_SLICES, lambda found: not found)
