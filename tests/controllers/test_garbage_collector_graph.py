"""Tests of the garbage collector's graph: observations in any order, and conflicting owners."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.component_base.resources import PODS
from sampan.controllers.garbage_collector.graph import AbsentOwners, Graph, alternative_identity, partition
from sampan.controllers.garbage_collector.graph_node import GraphNode
from sampan.controllers.garbage_collector.identity import ObjectIdentity, ObservedObject, OwnerRef, StateReader
from sampan.operator.queue import WorkQueue
from sampan.testing.time.virtual_time import virtual_time


class Watched:
    """A graph with its queues."""

    def __init__(self) -> None:
        self.to_delete: WorkQueue[GraphNode] = WorkQueue()
        self.to_orphan: WorkQueue[GraphNode] = WorkQueue()
        self.reported: list[tuple[str, str]] = []
        report = lambda dependent, owner: self.reported.append((dependent.name, owner.name))  # noqa: E731
        self.graph = Graph(self.to_delete, self.to_orphan, report)

    async def deletions(self) -> list[str]:
        """Return the sorted names of nodes that may be garbage."""
        return await drained(self.to_delete)

    async def orphanings(self) -> list[str]:
        """Return the names of nodes whose dependents must be orphaned."""
        return await drained(self.to_orphan)

    def node(self, name: str) -> GraphNode:
        """Return a node, which must exist."""
        node = self.graph.node(f"uid-{name}")
        assert node is not None
        return node


async def drained(queue: WorkQueue[GraphNode]) -> list[str]:
    """The names of all nodes in a queue."""
    found = []
    while len(queue):
        node = await queue.get()
        found.append(node.identity.name)
        queue.done(node)
    return sorted(found)


def identity(name: str, namespace: str = "n", *, kind: str = "Pod", uid: str = "") -> ObjectIdentity:
    """An object's identity."""
    return ObjectIdentity("v1", kind, name, uid or f"uid-{name}", namespace)


def owner(name: str, *, kind: str = "Pod", uid: str = "", blocks: bool = False) -> OwnerRef:
    """A reference to an owner."""
    return OwnerRef("v1", kind, name, uid or f"uid-{name}", blocks)


def observed(name: str, owners: Iterable[OwnerRef] = (), namespace: str = "n", **more: Any) -> ObservedObject:
    """The observed state of an object."""
    return ObservedObject(identity(name, namespace), tuple(owners))._replace(**more)


async def test_an_unobserved_owner_is_virtual() -> None:
    watched = Watched()
    watched.graph.observe(observed("child", [owner("parent")]))
    assert watched.node("parent").is_virtual
    assert await watched.deletions() == ["parent"]
    watched.graph.observe(observed("parent"))
    assert not watched.node("parent").is_virtual
    assert await watched.deletions() == []
    assert [each.identity.name for each in watched.node("parent").dependents] == ["child"]


async def test_the_removal_of_an_owner_queues_its_dependents() -> None:
    watched = Watched()
    watched.graph.observe(observed("parent"))
    watched.graph.observe(observed("child", [owner("parent")]))
    watched.graph.remove(identity("parent"))
    assert await watched.deletions() == ["child"]
    assert watched.graph.absent.has(owner("parent"), "n")
    assert len(watched.graph) == 1


async def test_a_virtual_owner_is_removed_with_its_last_dependent() -> None:
    watched = Watched()
    watched.graph.observe(observed("one", [owner("parent")]))
    watched.graph.observe(observed("two", [owner("parent")]))
    watched.graph.remove(identity("one"))
    assert len(watched.graph) == 2
    watched.graph.observe(observed("two"))
    assert len(watched.graph) == 1


@pytest.mark.parametrize("parent_first", [True, False])
async def test_a_dependent_in_another_namespace_is_reported_in_any_order(parent_first: bool) -> None:
    watched = Watched()
    states = [observed("parent"), observed("child", [owner("parent")], "other")]
    for state in states if parent_first else reversed(states):
        watched.graph.observe(state)
    assert watched.reported == [("child", "parent")]
    assert "child" in await watched.deletions()


@pytest.mark.parametrize("parent_first", [True, False])
async def test_a_dependent_with_a_conflicting_reference_is_queued(parent_first: bool) -> None:
    watched = Watched()
    states = [observed("parent"), observed("child", [owner("parent", kind="Node")])]
    for state in states if parent_first else reversed(states):
        watched.graph.observe(state)
    assert watched.reported == []
    assert "child" in await watched.deletions()


async def test_foreground_deletion_queues_present_and_later_dependents() -> None:
    watched = Watched()
    watched.graph.observe(observed("parent"))
    watched.graph.observe(observed("child", [owner("parent", blocks=True)]))
    assert await watched.deletions() == []
    going = observed("parent", is_deleting=True, has_foreground=True)
    watched.graph.observe(going)
    assert await watched.deletions() == ["child"]
    watched.graph.observe(going)
    assert await watched.deletions() == []
    watched.graph.observe(observed("late", [owner("parent", blocks=True)]))
    assert await watched.deletions() == ["late"]
    watched.graph.remove(identity("child"))
    assert await watched.deletions() == ["parent"]
    assert [each.identity.name for each in watched.node("parent").blocking_dependents()] == ["late"]


async def test_orphaning_comes_before_foreground_deletion() -> None:
    watched = Watched()
    watched.graph.observe(observed("parent", is_deleting=True, has_foreground=True, has_orphan=True))
    watched.graph.observe(observed("child", [owner("parent")]))
    assert (await watched.orphanings(), await watched.deletions()) == (["parent"], [])
    watched.graph.observe(observed("parent", is_deleting=True, has_foreground=True))
    assert (await watched.orphanings(), await watched.deletions()) == ([], ["child"])


async def test_an_older_state_is_ignored_unless_it_is_listed() -> None:
    watched = Watched()
    watched.graph.observe(observed("child", [owner("a")], resource_version="10"))
    old = observed("child", [owner("b")], resource_version="9")
    watched.graph.observe(old)
    assert watched.node("child").owners == (owner("a"),)
    watched.graph.observe(old, listed=True)
    assert watched.node("child").owners == (owner("b"),)


async def test_a_lost_owner_is_checked_and_a_lost_dependent_does_not_block() -> None:
    watched = Watched()
    watched.graph.observe(observed("parent", is_deleting=True, has_foreground=True))
    watched.graph.observe(observed("child", [owner("parent", blocks=True)]))
    watched.graph.observe(observed("grandchild", [owner("child")]))
    await watched.deletions()
    watched.graph.lose("uid-child")
    assert watched.node("child").is_virtual
    assert await watched.deletions() == ["child", "parent"]
    assert watched.node("parent").blocking_dependents() == []
    watched.graph.lose("uid-grandchild")
    assert len(watched.graph) == 1


# ---- conflicting owner references


async def test_only_dependents_with_a_matching_reference_are_queued() -> None:
    watched = Watched()
    watched.graph.observe(observed("right", [owner("parent")]))
    watched.graph.observe(observed("wrong", [owner("parent", kind="Node")]))
    await watched.deletions()
    watched.graph.found_absent(identity("parent"))
    assert await watched.deletions() == ["right"]
    # The identity in the other reference is checked next.
    assert watched.node("parent").identity.kind == "Node"
    assert watched.to_delete.num_requeues(watched.node("parent")) == 1


async def test_a_real_owner_is_not_removed_because_of_a_wrong_reference() -> None:
    watched = Watched()
    watched.graph.observe(observed("parent"))
    watched.graph.observe(observed("right", [owner("parent")]))
    watched.graph.observe(observed("wrong", [owner("parent", kind="Node")]))
    await watched.deletions()
    watched.graph.found_absent(identity("parent", kind="Node"))
    assert await watched.deletions() == ["wrong"]
    assert not watched.node("parent").is_virtual


async def test_an_absent_owner_is_removed_before_its_deletion_event() -> None:
    watched = Watched()
    watched.graph.observe(observed("parent"))
    watched.graph.observe(observed("child", [owner("parent")]))
    watched.graph.found_absent(identity("parent"))
    assert await watched.deletions() == ["child"]
    watched.graph.remove(identity("parent"))
    assert await watched.deletions() == []


def dependent(name: str, owners: Iterable[OwnerRef], namespace: str = "n") -> GraphNode:
    """An observed node."""
    node = GraphNode(identity(name, namespace), is_virtual=False)
    node.owners = tuple(owners)
    return node


@pytest.mark.parametrize(
    ("of", "matching", "others"),
    [
        (identity("o"), ["same", "both"], ["kind", "both", "elsewhere"]),
        (identity("o", ""), ["same", "both", "elsewhere"], ["kind", "both"]),
        (identity("o", kind="Node"), ["kind", "both"], ["same", "both", "elsewhere"]),
    ],
    ids=["in a namespace", "of the cluster", "another kind"],
)
def test_dependents_are_partitioned_by_their_references(
    of: ObjectIdentity, matching: list[str], others: list[str]
) -> None:
    dependents = [
        dependent("same", [owner("o"), owner("other")]),
        dependent("kind", [owner("o", kind="Node")]),
        dependent("both", [owner("o"), owner("o", kind="Node")]),
        dependent("elsewhere", [owner("o")], "m"),
    ]
    found = partition(dependents, of)
    assert [[node.identity.name for node in each] for each in found] == [matching, others]


def test_all_alternative_identities_are_tried_in_turn() -> None:
    references = [owner("o", kind="B"), owner("o", kind="A"), owner("p", kind="B", uid="uid-o")]
    dependents = [dependent(f"d{index}", [each]) for index, each in enumerate(references)]
    dependents.append(dependent("d3", [owner("o", kind="B")], "m"))
    turns: list[tuple[str, ...]] = []
    current: ObjectIdentity | None = ObjectIdentity(*references[0][:4], "n")
    for _ in range(5):
        assert current is not None
        turns.append((current.kind, current.namespace, current.name))
        current = alternative_identity(dependents, current)
    assert turns == [("B", "n", "o"), ("B", "n", "p"), ("A", "n", "o"), ("B", "m", "o"), ("B", "n", "o")]


def test_an_identity_without_conflict_has_no_alternative() -> None:
    assert alternative_identity([dependent("d", [owner("o")])], identity("o")) is None
    assert alternative_identity([dependent("d", [owner("o")])], identity("o", "")) is None


# ---- any order of changes

NAMES = ("a", "b", "c", "d")
changes = st.tuples(
    st.sampled_from(NAMES),
    st.sampled_from(["observe", "remove", "absent", "lose"]),
    st.lists(st.sampled_from(NAMES), max_size=3, unique=True),
    st.booleans(),
)


@given(st.lists(changes, max_size=30))
def test_owners_and_dependents_stay_linked(
    steps: list[tuple[str, str, list[str], bool]],
) -> None:
    asyncio.run(take(steps))


async def take(steps: list[tuple[str, str, list[str], bool]]) -> None:
    """Change a graph, and check its invariants after each change."""
    watched = Watched()
    graph = watched.graph
    for name, change, owners, blocks in steps:
        before = graph.node(f"uid-{name}")
        if change == "observe":
            graph.observe(observed(name, [owner(each, blocks=blocks) for each in owners]))
        elif change == "remove":
            graph.remove(identity(name))
        elif change == "absent":
            graph.found_absent(identity(name))
        elif before is not None and not before.is_virtual:
            graph.lose(f"uid-{name}")
        nodes = {each: node for each in NAMES if (node := graph.node(f"uid-{each}")) is not None}
        assert len(nodes) == len(graph)
        for each, node in nodes.items():
            named = {other for other, child in nodes.items() if owner(each).uid in {o.uid for o in child.owners}}
            assert {child.identity.name for child in node.dependents} <= named
            assert node.dependents or not node.is_virtual


# ---- reading states


def test_a_state_is_read_from_bytes() -> None:
    raw = (
        b'{"metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"7","labels":{"a":"b"},'
        b'"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["orphan","x"],"ownerReferences":['
        b'{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"v","controller":true,"blockOwnerDeletion":true}'
        b"]}}"
    )
    reader = StateReader(PODS)
    state = reader.read(raw)
    owners = (OwnerRef("apps/v1", "ReplicaSet", "r", "v", True),)
    assert state == ObservedObject(ObjectIdentity("v1", "Pod", "p", "u", "n"), owners, "7", True, True, False)
    assert reader.read(raw).owners is state.owners
    assert str(state.identity) == "[v1/Pod, namespace: n, name: p, uid: u]"


def test_a_state_with_nulls_is_read() -> None:
    raw = b'{"metadata":{"name":"a","namespace":null,"uid":"u","finalizers":null,"ownerReferences":null}}'
    assert StateReader(PODS).read(raw) == ObservedObject(ObjectIdentity("v1", "Pod", "a", "u"))


def test_the_least_recently_used_absent_owner_is_dropped() -> None:
    absent = AbsentOwners(2)
    absent.add(identity("one"))
    absent.add(identity("two"))
    assert absent.has(owner("one"), "n")
    absent.add(identity("three", ""))
    assert [absent.has(owner(name), "n") for name in ("one", "two", "three")] == [True, False, True]
    assert not absent.has(owner("one"), "other")


@virtual_time
async def test_owners_that_no_object_names_any_more_are_dropped() -> None:
    reader = StateReader(PODS)
    for number in range(100):
        owner = b'{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"%d"}' % number
        reader.read(b'{"metadata":{"name":"p","uid":"u","ownerReferences":[%b]}}' % owner)
        await asyncio.sleep(60)
    assert len(reader._shared) < 15
