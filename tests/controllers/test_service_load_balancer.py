"""Tests of the hint at Services of type LoadBalancer that stay pending."""

import asyncio
from typing import Any

import pytest

from sampan.component_base.resources import EVENTS, SERVICES
from sampan.controllers import service_load_balancer
from sampan.controllers.service_load_balancer.hints import NOTE, REASON, WAIT_S
from tests.client.connected import connected
from tests.controllers.clock import SetClock
from tests.controllers.cluster import Working, cluster, working


async def service(c: Working, name: str, metadata: dict[str, Any] | None = None, **spec: Any) -> None:
    await c.create(
        SERVICES,
        {
            "metadata": {"name": name, **(metadata or {})},
            "spec": {"type": "LoadBalancer", "ports": [{"port": 80}], **spec},
        },
    )


async def after_the_wait(c: Working, clock: SetClock, name: str) -> None:
    """Let the loop see the Service, then wake it after the wait with a change."""
    await asyncio.sleep(0.2)
    clock.forward(WAIT_S + 1)
    await c.patch(SERVICES, name, {"metadata": {"labels": {"changed": "yes"}}})


async def hints(c: Working) -> list[str]:
    """Names of the Services with a hint, after time for more."""
    await asyncio.sleep(0.3)
    return [event["involvedObject"]["name"] for event in await c.all(EVENTS) if event["reason"] == REASON]


async def test_a_pending_service_gets_one_normal_event_after_the_wait() -> None:
    clock = SetClock()
    async with cluster(service_load_balancer.set_up, clock=clock) as c:
        await service(c, "web")
        await after_the_wait(c, clock, "web")
        [event] = await c.events(REASON)
        assert (event["type"], event["message"], event["involvedObject"]["name"]) == ("Normal", NOTE, "web")
        await c.patch(SERVICES, "web", {"metadata": {"labels": {"changed": "again"}}})
        [same] = [each for each in await c.all(EVENTS) if each["reason"] == REASON]
        assert await hints(c) == ["web"]
        assert same.get("count", 1) == 1


async def test_a_restart_of_the_loops_records_no_second_event() -> None:
    clock = SetClock()
    async with connected() as (client, _):
        async with working(client, service_load_balancer.set_up, clock=clock) as c:
            await service(c, "web")
            await after_the_wait(c, clock, "web")
            [before] = await c.events(REASON)
        async with working(client, service_load_balancer.set_up, clock=clock) as c:
            await after_the_wait(c, clock, "web")
            assert await hints(c) == ["web"]
            [after] = await c.events(REASON)
            assert after == before


async def test_no_event_before_the_end_of_the_wait() -> None:
    async with cluster(service_load_balancer.set_up, clock=SetClock()) as c:
        await service(c, "web")
        await c.patch(SERVICES, "web", {"metadata": {"labels": {"changed": "yes"}}})
        assert await hints(c) == []


@pytest.mark.parametrize(
    ("metadata", "spec"),
    [
        ({}, {"type": "ClusterIP"}),
        ({}, {"loadBalancerClass": "example.com/lb"}),
        ({"finalizers": ["service.kubernetes.io/load-balancer-cleanup"]}, {}),
    ],
    ids=["another type", "a class", "a cloud's controller works on it"],
)
async def test_other_services_get_no_event(metadata: dict[str, Any], spec: dict[str, Any]) -> None:
    clock = SetClock()
    async with cluster(service_load_balancer.set_up, clock=clock) as c:
        await service(c, "web", metadata, **spec)
        await after_the_wait(c, clock, "web")
        assert await hints(c) == []


async def test_a_service_with_an_address_gets_no_event() -> None:
    clock = SetClock()
    async with cluster(service_load_balancer.set_up, clock=clock) as c:
        await service(c, "web")
        await c.patch_status(SERVICES, "web", {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}})
        await after_the_wait(c, clock, "web")
        assert await hints(c) == []
