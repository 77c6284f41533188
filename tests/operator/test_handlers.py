"""Requests that events become."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from sampan.informer.ref import DeletedFinalStateUnknown, Ref
from sampan.operator.handlers import EnqueueHandler, MapFunction, for_object, for_owner
from sampan.operator.predicates import GenerationChanged, Predicate
from sampan.operator.queue import LOW_PRIORITY, WorkQueue
from sampan.operator.request import Request
from sampan.testing.time.virtual_time import virtual_time
from tests.operator.refs import NETWORKS, NODES, ref


def owned_by(*owners: tuple[str, str, str, bool], **more: Any) -> Ref[Any]:
    """A record with owners: apiVersion, kind, name, whether it controls."""
    references = [
        {"apiVersion": version, "kind": kind, "name": name, "uid": "u", "controller": controller}
        for version, kind, name, controller in owners
    ]
    return ref(ownerReferences=references, **more)


class Bench:
    """A handler and its queue."""

    def __init__(self, map_function: MapFunction[Any] = for_object, *predicates: Predicate[Any]) -> None:
        self.queue: WorkQueue[Request] = WorkQueue()
        self.handler = EnqueueHandler(self.queue, map_function, predicates)

    async def got(self) -> list[tuple[str, int]]:
        found = [await self.queue.get_with_priority() for _ in range(len(self.queue))]
        return [(request.key, priority) for request, priority in found]


@virtual_time
async def test_the_initial_list_has_low_priority() -> None:
    bench = Bench()
    bench.handler.on_add(ref("old"), True)
    bench.handler.on_add(ref("new"), False)
    assert await bench.got() == [("default/new", 0), ("default/old", LOW_PRIORITY)]


@virtual_time
async def test_a_resync_has_low_priority_and_a_change_has_not() -> None:
    bench = Bench()
    bench.handler.on_update(ref("resync"), ref("resync"))
    bench.handler.on_update(ref("changed"), ref("changed", version=2))
    assert await bench.got() == [("default/changed", 0), ("default/resync", LOW_PRIORITY)]


@virtual_time
async def test_a_tombstone_is_a_deletion() -> None:
    bench = Bench()
    bench.handler.on_delete(DeletedFinalStateUnknown("default/a", ref("a")))
    assert await bench.got() == [("default/a", 0)]


@virtual_time
async def test_predicates_drop_events() -> None:
    bench = Bench(for_object, GenerationChanged())
    bench.handler.on_update(ref(generation=1), ref(generation=1, version=2))
    assert await bench.got() == []


@virtual_time
async def test_the_controlling_owner_is_called_in_any_version_of_its_group() -> None:
    bench = Bench(for_owner(NETWORKS))
    owners = [
        ("net.example.com/v1beta1", "Network", "mine", True),
        ("net.example.com/v1", "Network", "other", False),
        ("other.example.com/v1", "Network", "stranger", True),
        ("net.example.com/v1", "Router", "router", True),
    ]
    bench.handler.on_add(owned_by(*owners), False)
    assert await bench.got() == [("default/mine", 0)]


@virtual_time
async def test_all_owners_are_enqueued_without_only_controller() -> None:
    bench = Bench(for_owner(NETWORKS, only_controller=False))
    owners = [("net.example.com/v1", "Network", name, name == "b") for name in "ab"]
    bench.handler.on_add(owned_by(*owners), False)
    assert await bench.got() == [("default/a", 0), ("default/b", 0)]


@virtual_time
async def test_an_owner_that_is_of_no_namespace_gets_none() -> None:
    bench = Bench(for_owner(NODES))
    bench.handler.on_add(owned_by(("v1", "Node", "n", True)), False)
    assert await bench.got() == [("n", 0)]


@virtual_time
async def test_a_change_of_owner_enqueues_both() -> None:
    bench = Bench(for_owner(NETWORKS))
    before = owned_by(("net.example.com/v1", "Network", "a", True))
    bench.handler.on_update(before, owned_by(("net.example.com/v1", "Network", "b", True), version=2))
    assert await bench.got() == [("default/a", 0), ("default/b", 0)]


@pytest.mark.parametrize("made", [ref("x"), owned_by()], ids=["no field", "empty field"])
def test_without_owners_no_client_is_called(made: Ref[Any]) -> None:
    assert list(for_owner(NETWORKS)(made)) == []  # type: ignore[arg-type]


@virtual_time
async def test_a_map_function_may_be_asynchronous() -> None:
    async def both(changed: Ref[Any]) -> Iterable[Request]:
        return [Request("", f"{changed.name}-{number}") for number in (1, 2)]

    bench = Bench(both)
    reported = bench.handler.on_update(ref("a"), ref("b", version=2))
    assert reported is not None
    await reported
    assert [key for key, _ in await bench.got()] == ["a-1", "a-2", "b-1", "b-2"]


@virtual_time
async def test_a_burst_of_changes_is_one_request_and_a_stream_of_them_starves_no_client() -> None:
    queue: WorkQueue[Request] = WorkQueue()
    handler = EnqueueHandler(queue, for_object, debounce_s=2)
    taken_at = []
    for version in range(1, 13):
        handler.on_update(ref(version=version), ref(version=version + 1))
        await asyncio.sleep(0.5)
        if len(queue):
            queue.done(await queue.get())
            taken_at.append(asyncio.get_running_loop().time())
    assert taken_at == [2, 4, 6]


@virtual_time
async def test_a_change_has_the_given_priority_and_the_initial_list_a_lower_one() -> None:
    queue: WorkQueue[Request] = WorkQueue()
    handler = EnqueueHandler(queue, for_object, priority=lambda ref: int(ref.labels.get("tier", "0")))
    handler.on_add(ref("old-gold", labels={"tier": "10"}), True)
    handler.on_add(ref("old"), True)
    handler.on_add(ref("new"), False)
    handler.on_update(ref("gold"), ref("gold", version=2, labels={"tier": "10"}))
    handler.on_delete(ref("gone", labels={"tier": "5"}))
    found = [await queue.get_with_priority() for _ in range(len(queue))]
    assert [(request.name, priority) for request, priority in found] == [
        ("gold", 10),
        ("gone", 5),
        ("new", 0),
        ("old-gold", 10 + LOW_PRIORITY),
        ("old", LOW_PRIORITY),
    ]


@virtual_time
async def test_an_event_whose_priority_is_no_number_is_tried_again() -> None:
    queue: WorkQueue[Request] = WorkQueue()
    priorities: list[Any] = ["high", 3]
    handler = EnqueueHandler(queue, for_object, priority=lambda ref: priorities.pop(0))
    handler.on_add(ref("a"), False)
    running = asyncio.create_task(handler.failed.run())
    assert await queue.get_with_priority() == (Request("default", "a"), 3)
    running.cancel()
    await asyncio.wait({running})
