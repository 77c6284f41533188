"""Concurrent writes are acknowledged together."""

import asyncio

import pytest

from sampan.storage.etcd.ack_batch import AckBatch
from sampan.storage.store import Conflict, Revision
from tests.storage.etcd.other_tasks import run_other_tasks


class Write:
    """Write that the test ends. `reported` is the task of its acknowledgement."""

    def __init__(self, acks: AckBatch) -> None:
        self.result: asyncio.Future[Revision] = asyncio.get_running_loop().create_future()
        self.reported = asyncio.create_task(acks.acknowledged(self._wait()))

    async def _wait(self) -> Revision:
        return await self.result


async def test_a_write_that_is_alone_is_acknowledged_at_once() -> None:
    acks = AckBatch()
    for revision in (2, 3):
        write = Write(acks)
        await run_other_tasks()
        write.result.set_result(Revision(revision))
        await run_other_tasks()
        assert write.reported.result() == revision


async def test_a_write_waits_for_those_that_are_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.storage.etcd.ack_batch.WAIT_MAX_S", 3600.0)
    acks = AckBatch()
    first, second = Write(acks), Write(acks)
    await run_other_tasks()
    first.result.set_result(Revision(2))
    await run_other_tasks()
    assert not first.reported.done()
    second.result.set_result(Revision(3))
    await run_other_tasks()
    assert (first.reported.result(), second.reported.result()) == (2, 3)


async def test_a_write_waits_no_longer_than_specified() -> None:
    acks = AckBatch()
    first, second = Write(acks), Write(acks)
    await run_other_tasks()
    first.result.set_result(Revision(2))
    assert await first.reported == 2
    assert not second.reported.done()
    second.reported.cancel()


async def test_a_refusal_does_not_wait() -> None:
    acks = AckBatch()
    first, second = Write(acks), Write(acks)
    await run_other_tasks()
    first.result.set_exception(Conflict("/registry/pods/a/b", None))
    await run_other_tasks()
    assert isinstance(first.reported.exception(), Conflict)
    second.reported.cancel()


async def test_a_write_that_is_given_up_holds_up_no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.storage.etcd.ack_batch.WAIT_MAX_S", 3600.0)
    acks = AckBatch()
    first, second, third = Write(acks), Write(acks), Write(acks)
    await run_other_tasks()
    first.result.set_result(Revision(2))
    third.result.set_result(Revision(3))
    await run_other_tasks()
    third.reported.cancel()
    second.reported.cancel()
    await run_other_tasks()
    assert first.reported.result() == 2
    assert third.reported.cancelled()
