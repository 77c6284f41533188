"""Tests of the garbage collector's monitors: discovery, failures and changes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sampan.client import Client, Forbidden, TransportError
from sampan.client.discovery.discover import Discovered, discover
from sampan.client.transport import HttpRequest
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CONFIG_MAPS, SECRETS
from sampan.controllers import garbage_collector
from sampan.controllers.garbage_collector.graph import Graph
from sampan.controllers.garbage_collector.monitors import Monitors, watchable
from sampan.core.errors import Reason
from sampan.core.gvk import GroupVersion, GroupVersionResource
from sampan.operator.queue import WorkQueue
from sampan.resource import ResourceInfo
from tests.client.connected import connected
from tests.controllers.cluster import Working, working
from tests.controllers.faulty import Faulty
from tests.controllers.test_garbage_collector import CRDS, OLD_SHIRTS, SHIRTS, absent, named, reference
from tests.server.custom_resources import GROUP, crd, version

PODS = GroupVersionResource("", "v1", "pods")
LEASES = GroupVersionResource("coordination.k8s.io", "v1", "leases")


@asynccontextmanager
async def monitors() -> AsyncIterator[tuple[Monitors, Graph, Client]]:
    """Monitors on a server, with a graph without workers."""
    async with connected() as (client, _):
        graph = Graph(WorkQueue(), WorkQueue(), lambda *_: None)
        yield Monitors(client, graph, lambda: None), graph, client


def watched(found: Monitors) -> set[GroupVersionResource]:
    """Return the watched resources."""
    return {monitor.info.gvr for monitor in found}


async def settled(found: Monitors) -> None:
    """Wait until all lists are in the graph."""
    async with asyncio.timeout(60):
        for monitor in found:
            await monitor.settled.wait()


def without(discovered: Discovered, *gone: GroupVersion, failed: bool = False) -> Discovered:
    """Return discovery without some group versions, which are removed or unavailable."""
    versions = {key: value for key, value in discovered.versions.items() if key not in gone}
    return Discovered(versions, dict.fromkeys(gone, "down") if failed else {})


async def test_all_deletable_resources_except_events_are_watched() -> None:
    async with monitors() as (_, _, client):
        found = watchable(await discover(client.rest))
        assert {PODS, LEASES} <= set(found)
        resources = {gvr.resource for gvr in found}
        assert not resources & {"events", "bindings", "tokenreviews", "componentstatuses"}
        assert len({gvr.group_resource for gvr in found}) == len(found)


async def test_removed_resources_are_unwatched_and_unavailable_ones_stay_watched() -> None:
    async with monitors() as (found, _, client):
        discovered = await discover(client.rest)
        tasks = asyncio.TaskGroup()
        async with tasks:
            found.sync(discovered, tasks)
            await settled(found)
            before = {monitor.info.gvr: monitor for monitor in found}
            found.sync(without(discovered, LEASES.group_version, failed=True), tasks)
            assert {monitor.info.gvr: monitor for monitor in found} == before
            found.sync(without(discovered, LEASES.group_version), tasks)
            assert watched(found) == set(before) - {LEASES}
            found.sync(Discovered({}), tasks)
            assert watched(found) == set()


async def test_objects_of_a_removed_resource_leave_the_graph() -> None:
    async with monitors() as (found, graph, client):
        discovered = await discover(client.rest)
        leases = client.resource(ResourceInfo(LEASES, "Lease", namespaced=True))
        lease = await leases.create({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", **named("a")})
        async with asyncio.TaskGroup() as tasks:
            found.sync(discovered, tasks)
            await settled(found)
            assert graph.node(lease["metadata"]["uid"]) is not None
            found.sync(without(discovered, LEASES.group_version), tasks)
            assert graph.node(lease["metadata"]["uid"]) is None
            found.sync(Discovered({}), tasks)


async def test_objects_stay_in_the_graph_when_the_preferred_version_changes() -> None:
    async with connected() as (client, _), working(client, garbage_collector.set_up) as c:
        await c.create(CRDS, crd(version("v1beta1")))
        owner = await c.create(OLD_SHIRTS, named("owner"))
        await c.create(SECRETS, named("child", [reference(owner)]))
        await c.create(OLD_SHIRTS, named("garbage", [absent()]))
        await c.until_gone(OLD_SHIRTS, "garbage")
        both = [version("v1beta1", storage=False), version()]
        await c.patch(CRDS, f"shirts.{GROUP}", {"spec": {"versions": both}})
        await c.create(SHIRTS, named("garbage", [absent()]))
        await c.until_gone(SHIRTS, "garbage")
        assert await c.exists(SECRETS, "child")
        await c.delete(SHIRTS, "owner")
        await c.until_gone(SECRETS, "child")


@asynccontextmanager
async def collecting(client: Client, error: Exception, *, initial_sync_s: float = 30.0) -> AsyncIterator[Working]:
    """A collector that cannot list or watch Secrets."""

    def fault(request: HttpRequest) -> Exception | None:
        return error if request.method == "GET" and request.target.startswith("/api/v1/secrets") else None

    def set_up(context: ControllerContext) -> None:
        context.manager.add(garbage_collector.GarbageCollector(context, initial_sync_s=initial_sync_s))

    async with working(Client(Faulty(client.rest.transport, fault), namespace="default"), set_up) as c:
        yield c


async def test_a_forbidden_resource_does_not_delay_the_start() -> None:
    forbidden = Forbidden(Reason.FORBIDDEN, 403, "no")
    async with connected() as (client, _), collecting(client, forbidden) as c:
        await c.create(CONFIG_MAPS, named("child", [absent()]))
        await c.until_gone(CONFIG_MAPS, "child")


async def test_a_failing_list_delays_the_start_only_for_a_while() -> None:
    broken = TransportError("broken", sent=False)
    async with connected() as (client, _), collecting(client, broken, initial_sync_s=0.2) as c:
        await c.create(CONFIG_MAPS, named("child", [absent()]))
        await c.until_gone(CONFIG_MAPS, "child")


async def test_a_collector_starts_when_discovery_works() -> None:
    async with connected() as (client, _):
        lost: list[str] = []

        def fault(request: HttpRequest) -> Exception | None:
            if request.target != "/apis" or lost:
                return None
            lost.append(request.target)
            return TransportError("not yet", sent=False)

        faulty = Client(Faulty(client.rest.transport, fault), namespace="default")
        async with working(faulty, garbage_collector.set_up) as c:
            await c.create(CONFIG_MAPS, named("child", [absent()]))
            await c.until_gone(CONFIG_MAPS, "child")
            assert lost
            errors = c.manager.registry.get_sample_value("garbagecollector_controller_resources_sync_error_total")
            assert errors == 1
