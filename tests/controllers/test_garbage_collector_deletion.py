"""Tests of deletions when the state in the graph is outdated."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from sampan.client import NotFound
from sampan.component_base.resources import CONFIG_MAPS, SECRETS
from sampan.controllers.garbage_collector.deletion import DeletionWorker
from sampan.controllers.garbage_collector.graph import Graph
from sampan.controllers.garbage_collector.graph_node import GraphNode
from sampan.controllers.garbage_collector.identity import state_of
from sampan.controllers.garbage_collector.live_objects import LiveObjects
from sampan.operator.manager import Manager
from sampan.operator.queue import WorkQueue
from sampan.resource import Object
from tests.client.connected import connected
from tests.controllers.cluster import Working
from tests.controllers.test_garbage_collector import absent, named, owners_of, reference


@dataclass(frozen=True)
class Judge(Working):
    """Runs the deletion on one node at a time, against a server."""

    graph: Graph
    queue: WorkQueue[GraphNode]
    deletion: DeletionWorker

    async def node_of(self, obj: Object) -> GraphNode:
        """Update the graph with the current state of a Secret."""
        found = await self.client.resource(SECRETS).metadata_only().get(obj["metadata"]["name"])
        return self.graph.observe(state_of(SECRETS, found.metadata))

    async def garbage(self, **metadata: Any) -> GraphNode:
        """Create a Secret with an absent owner."""
        return await self.node_of(await self.create(SECRETS, named("child", [absent()], **metadata)))

    async def attempt(self, node: GraphNode) -> bool:
        """Process a node, and requeue it if it must be retried."""
        done = await self.deletion.attempt(node)
        if not done:
            self.queue.add_rate_limited(node)
        return done

    async def child(self) -> Object:
        """The Secret."""
        return await self.get(SECRETS, "child")

    async def is_gone(self) -> bool:
        """Return True if the Secret does not exist."""
        return not await self.exists(SECRETS, "child")


@asynccontextmanager
async def judging() -> AsyncIterator[Judge]:
    """A server, and a graph without monitors."""
    async with connected() as (client, _):
        queue: WorkQueue[GraphNode] = WorkQueue()
        graph = Graph(queue, WorkQueue(), lambda *_: None)
        yield Judge(
            client, Manager(client), graph, queue, DeletionWorker(graph, LiveObjects(client, client.mapper), queue)
        )


async def test_garbage_is_deleted_although_other_fields_have_changed() -> None:
    async with judging() as judge:
        node = await judge.garbage()
        await judge.patch(SECRETS, "child", {"metadata": {"labels": {"a": "b"}}})
        assert await judge.attempt(node)
        assert await judge.is_gone()


async def test_an_object_that_lost_its_absent_owner_stays() -> None:
    async with judging() as judge:
        node = await judge.garbage()
        await judge.patch(SECRETS, "child", {"metadata": {"ownerReferences": None}})
        assert not await judge.attempt(node)
        assert await judge.attempt(node)
        assert not await judge.is_gone()


async def test_an_object_with_a_new_owner_stays_and_loses_the_absent_one() -> None:
    async with judging() as judge:
        node = await judge.garbage()
        owner = await judge.create(CONFIG_MAPS, named("owner"))
        await judge.patch(SECRETS, "child", {"metadata": {"ownerReferences": [absent(), reference(owner)]}})
        assert not await judge.attempt(node)
        assert await judge.attempt(node)
        assert owners_of(await judge.child()) == ["owner"]


async def test_a_new_object_of_the_same_name_stays() -> None:
    async with judging() as judge:
        node = await judge.garbage()
        await judge.delete(SECRETS, "child")
        await judge.create(SECRETS, named("child"))
        assert await judge.attempt(node)
        assert not await judge.is_gone()
        assert judge.graph.node(node.identity.uid) is None


async def test_a_deleted_object_is_removed_from_the_graph() -> None:
    async with judging() as judge:
        node = await judge.garbage()
        await judge.delete(SECRETS, "child")
        assert await judge.attempt(node)
        assert judge.graph.node(node.identity.uid) is None


async def test_a_new_finalizer_decides_the_propagation_policy() -> None:
    async with judging() as judge:
        node = await judge.garbage()
        await judge.patch(SECRETS, "child", {"metadata": {"finalizers": ["foregroundDeletion"]}})
        assert await judge.attempt(node)
        found = await judge.child()
        assert found["metadata"]["finalizers"] == ["foregroundDeletion"]
        assert "deletionTimestamp" in found["metadata"]


async def test_a_terminating_object_is_not_deleted_again() -> None:
    async with judging() as judge:
        node = await judge.garbage(finalizers=["example.com/held"])
        await judge.delete(SECRETS, "child")
        before = await judge.child()
        assert await judge.attempt(node)
        assert await judge.child() == before


async def test_an_owner_missing_in_the_graph_is_read_from_the_server() -> None:
    async with judging() as judge:
        owner = await judge.create(CONFIG_MAPS, named("owner"))
        node = await judge.node_of(await judge.create(SECRETS, named("child", [reference(owner)])))
        assert await judge.attempt(node)
        assert not await judge.is_gone()
        virtual = judge.graph.node(owner["metadata"]["uid"])
        assert virtual is not None
        assert not await judge.attempt(virtual), "it is retried until it is observed or absent"
        await judge.delete(CONFIG_MAPS, "owner")
        assert await judge.attempt(virtual)
        assert await judge.attempt(node)
        assert await judge.is_gone()


@pytest.mark.parametrize("finalizers", [["foregroundDeletion"], ["foregroundDeletion", "example.com/held"]])
async def test_the_foreground_finalizer_is_removed_when_nothing_blocks(finalizers: list[str]) -> None:
    async with judging() as judge:
        obj = await judge.create(SECRETS, named("child", finalizers=finalizers))
        await judge.delete(SECRETS, "child")
        node = await judge.node_of(obj)
        assert await judge.attempt(node)
        try:
            assert (await judge.child())["metadata"]["finalizers"] == ["example.com/held"]
        except NotFound:
            assert finalizers == ["foregroundDeletion"]
