"""Hints at Gateways that no controller serves."""

from typing import Any

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import EVENTS
from sampan.controllers.gateway_hints import GATEWAY_CLASSES, GATEWAYS, REASON, WAIT_S, GatewayHints
from sampan.core.gvk import GroupVersionResource
from sampan.resource import ResourceInfo
from tests.controllers.clock import SetClock
from tests.controllers.cluster import Working, cluster

CRDS = ResourceInfo(
    GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions"), "CustomResourceDefinition", False
)
ACCEPTED = [{"type": "Accepted", "status": "True"}]


async def define(c: Working) -> None:
    """Install the kinds of the Gateway API."""
    for kind in (GATEWAYS, GATEWAY_CLASSES):
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        names = {"plural": kind.gvr.resource, "kind": kind.kind}
        scope = "Namespaced" if kind.namespaced else "Cluster"
        spec = {"group": kind.gvr.group, "names": names, "scope": scope, "versions": [version]}
        name = f"{kind.gvr.resource}.{kind.gvr.group}"
        approved = {"api-approved.kubernetes.io": "unapproved, for a test"}
        await c.create(CRDS, {"metadata": {"name": name, "annotations": approved}, "spec": spec})
        await c.until(CRDS, name, lambda obj: "Established" in str((obj.get("status") or {}).get("conditions")))


async def gateway(c: Working, name: str, class_name: str, **status: Any) -> None:
    """Create a Gateway."""
    await c.create(GATEWAYS, {"metadata": {"name": name}, "spec": {"gatewayClassName": class_name}, "status": status})


async def found(c: Working) -> dict[str, str]:
    """Return the message of each event by its Gateway, once that of the Gateway `last` exists."""
    events = await c.until_all(EVENTS, lambda all: any(each["involvedObject"]["name"] == "last" for each in all))
    assert len({each["metadata"]["name"] for each in events}) == len(events)
    return {each["involvedObject"]["name"]: each["message"] for each in events if each["reason"] == REASON}


def hints(made: list[GatewayHints]) -> Any:
    return lambda context: made.append(GatewayHints(context))


async def test_without_the_gateway_api_there_is_nothing_to_check() -> None:
    made: list[GatewayHints] = []
    async with cluster(hints(made)) as c:
        await made[0].check()
        assert await c.all(EVENTS) == []


async def test_gateway_that_no_controller_serves_gets_one_event() -> None:
    made: list[GatewayHints] = []
    clock = SetClock()
    async with cluster(hints(made), clock=clock) as c:
        await define(c)
        for name, conditions in (("ready", ACCEPTED), ("new", [])):
            await c.create(GATEWAY_CLASSES, {"metadata": {"name": name}, "status": {"conditions": conditions}})
        await gateway(c, "served", "ready")
        await gateway(c, "programmed", "absent", conditions=[{"type": "Programmed", "status": "True"}])
        await gateway(c, "unaccepted", "new")
        await made[0].check()  # Too early.
        clock.forward(WAIT_S + 5)
        await gateway(c, "last", "absent")
        await made[0].check()
        await made[0].check()
        texts = await found(c)
        assert sorted(texts) == ["last", "unaccepted"]
        assert texts["last"].startswith(
            'the GatewayClass "absent" does not exist, so no controller serves this Gateway'
        )
        assert texts["unaccepted"].startswith('no controller has accepted the GatewayClass "new", so no controller')


async def test_another_process_records_no_second_event() -> None:
    made: list[GatewayHints] = []
    clock = SetClock()

    def two(context: ControllerContext) -> None:
        made.extend([GatewayHints(context), GatewayHints(context)])

    async with cluster(two, clock=clock) as c:
        await define(c)
        await gateway(c, "last", "absent")
        clock.forward(WAIT_S + 5)
        await made[0].check()
        await found(c)
        await made[1].check()
        [event] = await c.all(EVENTS)
        assert event.get("count", 1) == 1
