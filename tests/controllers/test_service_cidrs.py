"""Tests of ServiceCIDRs: finalizer, release and condition."""

import pytest

from sampan.component_base.resources import IP_ADDRESSES, SERVICE_CIDRS, SERVICES
from sampan.controllers import service_cidrs
from sampan.resource import Object, meta
from tests.controllers.clock import SetClock
from tests.controllers.cluster import Working, cluster

FINALIZER = "networking.k8s.io/service-cidr-finalizer"


def ready(cidr: Object) -> tuple[str, str]:
    """Status and reason of the condition."""
    found = [each for each in (cidr.get("status") or {}).get("conditions") or () if each["type"] == "Ready"]
    return (found[0]["status"], found[0]["reason"]) if found else ("", "")


async def made(c: Working, name: str, *cidrs: str) -> None:
    """A ServiceCIDR that is ready."""
    await c.create(SERVICE_CIDRS, {"metadata": {"name": name}, "spec": {"cidrs": list(cidrs)}})
    await c.until(SERVICE_CIDRS, name, lambda each: ready(each) == ("True", "") and meta(each).finalizers)


async def service(c: Working, name: str, ip: str) -> None:
    """A Service with this cluster IP."""
    await c.create(SERVICES, {"metadata": {"name": name}, "spec": {"clusterIP": ip, "ports": [{"port": 80}]}})


def later() -> SetClock:
    """A clock after the end of every grace period."""
    clock = SetClock()
    clock.forward(3600.0)
    return clock


async def test_a_service_cidr_gets_the_finalizer_and_is_ready() -> None:
    async with cluster(service_cidrs.set_up) as c:
        await made(c, "more", "192.168.7.0/24")
        found = await c.get(SERVICE_CIDRS, "more")
        assert meta(found).finalizers == [FINALIZER]
        [condition] = found["status"]["conditions"]
        assert condition["message"] == "Kubernetes Service CIDR is ready"


async def test_the_default_service_cidr_gets_the_finalizer_too() -> None:
    async with cluster(service_cidrs.set_up) as c:
        found = await c.until(SERVICE_CIDRS, "kubernetes", lambda each: meta(each).finalizers)
        assert meta(found).finalizers == [FINALIZER]


async def test_a_range_without_addresses_is_deleted_after_the_grace_period() -> None:
    async with cluster(service_cidrs.set_up, clock=later()) as c:
        await made(c, "more", "192.168.7.0/24")
        await c.delete(SERVICE_CIDRS, "more")
        await c.until_gone(SERVICE_CIDRS, "more")


async def test_a_range_with_addresses_terminates_after_the_last_one_is_released() -> None:
    async with cluster(service_cidrs.set_up, clock=later()) as c:
        await made(c, "more", "192.168.7.0/24")
        await service(c, "a", "192.168.7.9")
        await c.delete(SERVICE_CIDRS, "more")
        stays = await c.until(SERVICE_CIDRS, "more", lambda each: ready(each) == ("False", "Terminating"))
        assert meta(stays).finalizers == [FINALIZER]
        assert stays["status"]["conditions"][0]["message"] == (
            "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR"
        )
        await c.delete(SERVICES, "a")
        await c.until_gone(SERVICE_CIDRS, "more")


@pytest.mark.parametrize("cidr", ["192.168.7.0/24", "192.168.0.0/16"], ids=["the same", "a larger one"])
async def test_a_range_is_released_if_another_one_contains_it(cidr: str) -> None:
    async with cluster(service_cidrs.set_up, clock=later()) as c:
        await made(c, "more", "192.168.7.0/24")
        await service(c, "a", "192.168.7.9")
        await c.delete(SERVICE_CIDRS, "more")
        await c.until(SERVICE_CIDRS, "more", lambda each: ready(each) == ("False", "Terminating"))
        await c.create(SERVICE_CIDRS, {"metadata": {"name": "other"}, "spec": {"cidrs": [cidr]}})
        await c.until_gone(SERVICE_CIDRS, "more")
        assert await c.exists(IP_ADDRESSES, "192.168.7.9")


async def test_two_equal_ranges_do_not_release_each_other() -> None:
    async with cluster(service_cidrs.set_up, clock=later()) as c:
        await made(c, "one", "192.168.7.0/24")
        await made(c, "two", "192.168.7.0/24")
        await service(c, "a", "192.168.7.9")
        await c.delete(SERVICE_CIDRS, "one")
        await c.until_gone(SERVICE_CIDRS, "one")
        await c.delete(SERVICE_CIDRS, "two")
        await c.until(SERVICE_CIDRS, "two", lambda each: ready(each) == ("False", "Terminating"))
        assert await c.exists(SERVICE_CIDRS, "two")


async def test_addresses_of_other_managers_do_not_keep_a_range() -> None:
    async with cluster(service_cidrs.set_up, clock=later()) as c:
        await made(c, "more", "192.168.7.0/24")
        labels = {"ipaddress.kubernetes.io/ip-family": "IPv4", "ipaddress.kubernetes.io/managed-by": "example.org"}
        parent = {"resource": "gateways", "group": "example.org", "name": "g", "namespace": "default"}
        await c.create(
            IP_ADDRESSES, {"metadata": {"name": "192.168.7.9", "labels": labels}, "spec": {"parentRef": parent}}
        )
        await c.delete(SERVICE_CIDRS, "more")
        await c.until_gone(SERVICE_CIDRS, "more")


async def test_a_range_stays_during_the_grace_period() -> None:
    clock = SetClock()
    async with cluster(service_cidrs.set_up, clock=clock) as c:
        await made(c, "more", "192.168.7.0/24")
        clock.forward(-60.0)
        await c.delete(SERVICE_CIDRS, "more")
        await made(c, "marker", "192.168.8.0/24")  # the loop has reconciled the deletion before
        assert meta(await c.get(SERVICE_CIDRS, "more")).finalizers == [FINALIZER]


async def test_a_dual_stack_range_stays_for_an_address_of_one_family() -> None:
    async with cluster(service_cidrs.set_up, clock=later()) as c:
        await made(c, "more", "192.168.7.0/24", "fd07::/112")
        await service(c, "a", "192.168.7.9")
        await c.delete(SERVICE_CIDRS, "more")
        await c.until(SERVICE_CIDRS, "more", lambda each: ready(each) == ("False", "Terminating"))
        await made(c, "other", "192.168.7.0/24")
        await c.until_gone(SERVICE_CIDRS, "more")
