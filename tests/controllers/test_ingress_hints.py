"""Hints at Ingresses that no controller can serve."""

from typing import Any

import pytest

from sampan.component_base.resources import EVENTS, INGRESS_CLASSES, INGRESSES
from sampan.controllers import ingress_hints
from sampan.controllers.ingress_hints import REASON, WAIT_S
from sampan.resource import Object
from tests.client.connected import connected
from tests.controllers.clock import SetClock
from tests.controllers.cluster import Working, cluster, working

BACKEND = {"service": {"name": "web", "port": {"number": 80}}}
DEFAULT = "ingressclass.kubernetes.io/is-default-class"


async def ingress(c: Working, name: str, annotations: dict[str, str] | None = None, **spec: Any) -> None:
    """Create an Ingress."""
    metadata = {"name": name, "annotations": annotations or {}}
    await c.create(INGRESSES, {"metadata": metadata, "spec": {"defaultBackend": BACKEND, **spec}})


async def ingress_class(c: Working, name: str, **annotations: str) -> None:
    """Create a class."""
    metadata = {"name": name, "annotations": annotations}
    await c.create(INGRESS_CLASSES, {"metadata": metadata, "spec": {"controller": "example.com/ingress"}})


async def after_the_wait(c: Working, clock: SetClock, *names: str) -> list[Object]:
    """Wake the loop after the wait with changes. Return the events once that of the last Ingress is there."""
    clock.forward(WAIT_S + 5)
    for name in names:
        await c.patch(INGRESSES, name, {"metadata": {"labels": {"changed": f"{clock.now():%H%M%S}"}}})

    def has_last(events: list[Object]) -> bool:
        return any(each["involvedObject"]["name"] == names[-1] for each in events if each["reason"] == REASON)

    return [each for each in await c.until_all(EVENTS, has_last) if each["reason"] == REASON]


@pytest.mark.parametrize(
    ("annotations", "spec", "message"),
    [
        ({}, {"ingressClassName": "nginx"}, 'the IngressClass "nginx" does not exist, so no controller'),
        ({"kubernetes.io/ingress.class": "old"}, {}, 'the IngressClass "old" does not exist, so no controller'),
        ({}, {}, "the Ingress names no class, and no IngressClass is the default, so no controller"),
    ],
    ids=["absent", "annotation", "no class"],
)
async def test_an_ingress_without_a_class_gets_an_event(
    annotations: dict[str, str], spec: dict[str, str], message: str
) -> None:
    clock = SetClock()
    async with cluster(ingress_hints.set_up, clock=clock) as c:
        await ingress_class(c, "other")
        await ingress(c, "web", annotations, **spec)
        [event] = await after_the_wait(c, clock, "web")
        assert (event["type"], event["message"].startswith(message)) == ("Warning", True), event["message"]


async def test_ingresses_that_are_or_may_be_served_get_none() -> None:
    clock = SetClock()
    async with cluster(ingress_hints.set_up, clock=clock) as c:
        await ingress_class(c, "nginx", **{DEFAULT: "true"})
        await ingress(c, "with-class", ingressClassName="nginx")
        await ingress(c, "with-default")
        await ingress(c, "with-address", ingressClassName="absent")
        await c.patch_status(INGRESSES, "with-address", {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}})
        await ingress(c, "last", ingressClassName="absent")
        found = await after_the_wait(c, clock, "with-class", "with-default", "with-address", "last")
        assert [each["involvedObject"]["name"] for each in found] == ["last"]


async def test_a_restart_of_the_loops_records_no_second_event() -> None:
    clock = SetClock()
    async with connected() as (client, _):
        async with working(client, ingress_hints.set_up, clock=clock) as c:
            await ingress(c, "web")
            [before] = await after_the_wait(c, clock, "web")
        async with working(client, ingress_hints.set_up, clock=clock) as c:
            await ingress(c, "last")
            found = await after_the_wait(c, clock, "web", "last")
            assert sorted(each["involvedObject"]["name"] for each in found) == ["last", "web"]
            [after] = [each for each in found if each["involvedObject"]["name"] == "web"]
            assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
