"""A task for each object, for as long as it is there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sampan.informer.handler import EventHandler
from sampan.operator.object_tasks import ObjectTasks
from sampan.operator.predicates import GenerationChanged
from sampan.operator.request import Request
from sampan.resource import Object, ObjectType, dynamic
from sampan.testing.time.virtual_time import settle, virtual_time
from tests.operator.refs import NETWORKS, ref


class Host:
    """An informer that a test speaks for; also the registration."""

    def __init__(self) -> None:
        self.handler: EventHandler[Object]

    @property
    def object_type(self) -> ObjectType[Object]:
        return dynamic(NETWORKS)

    def add_handler(self, handler: EventHandler[Object]) -> "Host":
        self.handler = handler
        return self

    async def synced(self) -> None:
        """At once."""

    def remove(self) -> None:
        del self.handler


class Work:
    """Notes when it runs for what."""

    def __init__(self, *, fail_times: int = 0, stop_s: float = 0.0) -> None:
        self.log: list[str] = []
        self._fail_times = fail_times
        self._stop_s = stop_s

    async def __call__(self, request: Request) -> None:
        now = asyncio.get_running_loop().time()
        self.log.append(f"+{request.name}@{now:g}")
        if self._fail_times:
            self._fail_times -= 1
            raise OSError("lost")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await asyncio.sleep(self._stop_s)
            self.log.append(f"-{request.name}")


@asynccontextmanager
async def running(work: Work, **options: Any) -> AsyncIterator[EventHandler[Object]]:
    host = Host()
    task = asyncio.create_task(ObjectTasks(host, work, **options).run())
    await settle()
    yield host.handler
    task.cancel()
    await asyncio.wait({task})
    assert not hasattr(host, "handler")


@virtual_time
async def test_a_task_lives_as_long_as_its_object() -> None:
    work = Work()
    async with running(work) as reported:
        reported.on_add(ref("a"), True)
        reported.on_add(ref("b"), False)
        await settle()
        reported.on_delete(ref("a"))
        await settle()
        assert work.log == ["+a@0", "+b@0", "-a"]
    assert work.log[-1] == "-b"


@virtual_time
async def test_a_change_disturbs_only_if_it_is_one_to_restart_on() -> None:
    work = Work()
    async with running(work, restart_on=GenerationChanged()) as reported:
        reported.on_add(ref(generation=1), True)
        await settle()
        reported.on_update(ref(generation=1), ref(generation=1, version=2))
        await settle()
        assert work.log == ["+a@0"]
        reported.on_update(ref(generation=1), ref(generation=2, version=3))
        await settle()
        assert work.log == ["+a@0", "-a", "+a@0"]


@virtual_time
async def test_the_next_begins_when_the_one_before_has_ended() -> None:
    work = Work(stop_s=5)
    async with running(work) as reported:
        reported.on_add(ref(uid="1"), True)
        await settle()
        reported.on_delete(ref(uid="1"))
        reported.on_add(ref(uid="2"), False)
        await asyncio.sleep(10)
        assert work.log == ["+a@0", "-a", "+a@5"]


@virtual_time
async def test_an_object_whose_deletion_begins_loses_its_task() -> None:
    work = Work()
    async with running(work) as reported:
        reported.on_add(ref(), True)
        await settle()
        reported.on_update(ref(), ref(version=2, deletionTimestamp="2026-01-01T00:00:00Z"))
        await settle()
        assert work.log == ["+a@0", "-a"]


@virtual_time
async def test_a_task_that_fails_is_begun_again_each_time_later() -> None:
    work = Work(fail_times=3)
    async with running(work) as reported:
        reported.on_add(ref(), True)
        await asyncio.sleep(60)
        assert work.log == ["+a@0", "+a@1", "+a@3", "+a@7"]
