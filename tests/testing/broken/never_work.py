"""Operators that never work: each part of one raises, blocks, or returns a wrong result."""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from sampan.client import NotFound
from sampan.component_base.resources import CONFIG_MAPS, SECRETS
from sampan.informer.ref import Ref
from sampan.operator.builder import Builder
from sampan.operator.manager import Manager
from sampan.operator.object_tasks import ObjectTasks
from sampan.operator.predicates import Predicate
from sampan.operator.request import Request
from sampan.operator.source import ChannelSource
from tests.testing.broken.parts import ADA, BOATS, NAME, Operator, controller, copied

_SLEEP: Final = time.sleep
"""A blocking call, under a name that the check of the source does not know."""


def raises(*, repaired: bool) -> Operator:
    async def work(manager: Manager, request: Request) -> None:
        if not repaired:
            raise ValueError("boom")
        await copied(manager, request)

    return controller(work)


def returns_42(*, repaired: bool) -> Operator:
    async def work(manager: Manager, request: Request) -> Any:
        await copied(manager, request)
        return None if repaired else 42

    return controller(work)


def blocks(*, repaired: bool) -> Operator:
    async def work(manager: Manager, request: Request) -> None:
        if repaired:
            await asyncio.sleep(0.3)
        else:
            _SLEEP(0.12)
        await copied(manager, request)

    return controller(work)


def other_kind(*, repaired: bool) -> Operator:
    async def work(manager: Manager, request: Request) -> None:
        if repaired:
            await copied(manager, request)
        else:
            await manager.client.resource(SECRETS).apply({**ADA, "metadata": {"name": "other"}})

    return controller(work)


def absent_kind(*, repaired: bool) -> Operator:
    async def work(manager: Manager, request: Request) -> None:
        try:
            await manager.client.resource(BOATS).get(request.name)
        except NotFound:
            if not repaired:
                raise
        await copied(manager, request)

    return controller(work)


def predicate_raises(*, repaired: bool) -> Operator:
    class Chosen(Predicate[Any]):
        def create(self, obj: Ref[Any]) -> bool:
            return bool(obj.decode()["data" if repaired else "spec"])

    return controller(predicates=[Chosen()])


def _mapped(crew: Callable[[Ref[Any]], Any]) -> Operator:
    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            await copied(manager, request)

        Builder(manager).watches(CONFIG_MAPS, crew).named(NAME).complete(reconcile)

    return set_up


def map_raises(*, repaired: bool) -> Operator:
    def crew(ref: Ref[Any]) -> list[Request]:
        return [Request(ref.namespace, ref.decode()["metadata"]["name" if repaired else "crew"])]

    return _mapped(crew)


def map_returns_none(*, repaired: bool) -> Operator:
    return _mapped(lambda ref: [Request.of_key(ref.key)] if repaired else None)


def map_blocks(*, repaired: bool) -> Operator:
    def crew(ref: Ref[Any]) -> list[Request]:
        time.sleep(0.0 if repaired else 0.12)
        return [Request.of_key(ref.key)]

    return _mapped(crew)


def handler_raises(*, repaired: bool) -> Operator:
    class Handler:
        def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
            if not repaired and obj.name == "ada":
                raise LookupError("no crew")

        def on_update(self, old: Ref[Any], new: Ref[Any]) -> None: ...

        def on_delete(self, obj: Any) -> None: ...

    def set_up(manager: Manager) -> None:
        controller()(manager)
        manager.informer_for(CONFIG_MAPS).add_handler(Handler())

    return set_up


def index_raises(*, repaired: bool) -> Operator:
    def by_crew(ref: Ref[Any]) -> Iterable[str]:
        return [ref.decode()["data"]["length" if repaired else "crew"]] if ref.name == "ada" else []

    def set_up(manager: Manager) -> None:
        controller()(manager)
        manager.informer_for(CONFIG_MAPS).add_indexer("crew", by_crew)

    return set_up


def channel_raises(*, repaired: bool) -> Operator:
    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            await copied(manager, request)

        def crew(event: Any) -> list[Request]:
            return [Request("default", event["name" if repaired else "crew"])]

        source: ChannelSource[Any] = ChannelSource(crew)
        source.put_nowait({"name": "ada"})
        Builder(manager).for_(CONFIG_MAPS).watches_source(source).named(NAME).complete(reconcile)

    return set_up


def daemon_raises(*, repaired: bool) -> Operator:
    def set_up(manager: Manager) -> None:
        async def sail(request: Request) -> None:
            if not repaired and request.name == "ada":
                raise LookupError("no crew")

        controller()(manager)
        manager.add(ObjectTasks(manager.informer_for(CONFIG_MAPS), sail))

    return set_up


def runnable_raises(*, repaired: bool) -> Operator:
    async def sail() -> None:
        await asyncio.sleep(1)
        if not repaired:
            raise LookupError("no crew")

    def set_up(manager: Manager) -> None:
        controller()(manager)
        manager.add(sail)

    return set_up


def task_raises(*, repaired: bool) -> Operator:
    async def sail() -> None:
        if not repaired:
            raise LookupError("no crew")

    async def work(manager: Manager, request: Request) -> None:
        await copied(manager, request)
        asyncio.get_running_loop().create_task(sail())

    return controller(work)


def never_settles(*, repaired: bool) -> Operator:
    async def work(manager: Manager, request: Request) -> None:
        await copied(manager, request)
        if not repaired and request.name == "ada":
            await asyncio.sleep(0.2)
            found = await manager.client.resource(CONFIG_MAPS).get(request.name)
            length = str(int(found["data"]["length"]) + 1)
            await manager.client.resource(CONFIG_MAPS).update({**found, "data": {"length": length}})

    return controller(work)


_EVENT: Final = "event of default/ada for boats (kind source: configmaps)"
CASES: Final[dict[str, tuple[Callable[..., Operator], str]]] = {
    "raises": (raises, "reconcile of default/ada by boats raised ValueError: boom"),
    "returns 42": (returns_42, "by boats raised TypeError: a reconciler returns a Result or None, not 42"),
    "blocks": (blocks, "by boats blocked the event loop for 0.1"),
    "applies an object of another kind": (other_kind, "by boats raised BadRequest: "),
    "kind that no server has": (absent_kind, "by boats raised NotFound: "),
    "predicate raises": (predicate_raises, f"{_EVENT} raised KeyError: 'spec'"),
    "map function raises": (map_raises, f"{_EVENT} raised KeyError: 'crew'"),
    "map function returns None": (map_returns_none, f"{_EVENT} raised TypeError: "),
    "map function blocks": (map_blocks, "handler for boats (kind source: configmaps) blocked the event loop for 0.1"),
    "handler raises": (handler_raises, "Handler, which loses the event, raised LookupError: no crew"),
    "index function raises": (index_raises, "index crew of configmaps for default/ada raised KeyError: 'crew'"),
    "channel raises": (channel_raises, "event of 0 for boats (channel source) raised KeyError: 'crew'"),
    "daemon raises": (daemon_raises, "object tasks: configmaps: default/ada raised LookupError: no crew"),
    "runnable raises": (runnable_raises, "LookupError: no crew"),
    "task raises": (task_raises, "sail raised LookupError: no crew"),
    "never settles": (never_settles, "the cluster did not settle within 60 s"),
}
"""Broken operators by name, each with the part of the first line that names the cause."""
