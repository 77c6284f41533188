"""Writes that etcd refuses, or whose result is unknown."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.connection.client import EtcdClient
from sampan.storage.etcd.connection.messages import TARGET_MOD, Compare
from sampan.storage.etcd.keys import PrefixedKeys
from sampan.storage.etcd.leases import Leases
from sampan.storage.etcd.reads import Reads
from sampan.storage.etcd.writes import Writes
from sampan.storage.store import (
    Conflict,
    KeyExists,
    OutcomeUnknown,
    StoreEvent,
    StoreFull,
    StoreUnavailable,
    ValueTooLarge,
)
from tests.storage.etcd.fake import FakeEtcd, Respond, refused, serving, written

KEY = "/registry/pods/ns/a"
NAME = KEY.encode()
TIMED_OUT = (grpc.StatusCode.UNAVAILABLE, "etcdserver: request timed out")
NO_LEADER = (grpc.StatusCode.UNAVAILABLE, "etcdserver: no leader")
FULL = (grpc.StatusCode.RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded")
LEARNER = (grpc.StatusCode.FAILED_PRECONDITION, "etcdserver: rpc not supported for learner")
NOT_CAPABLE = (grpc.StatusCode.FAILED_PRECONDITION, "etcdserver: not capable")
USERS_CHANGED = (grpc.StatusCode.INVALID_ARGUMENT, "etcdserver: revision of auth store is old")
TOO_LARGE = (grpc.StatusCode.INVALID_ARGUMENT, "etcdserver: request is too large")
LARGER = (grpc.StatusCode.RESOURCE_EXHAUSTED, "grpc: received message larger than max (600000 vs. 534288)")
Failure = tuple[grpc.StatusCode, str]


def script(*responses: Failure | Any) -> Respond:
    """Gives these answers, one after the other, the last one again and again."""
    left = list(responses)

    async def transact(request: Any, context: Any) -> Any:
        response = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(response, tuple):
            await context.abort(*response)
        return response

    return transact


def undispatched(event: StoreEvent) -> None:
    """Drop the event."""


@asynccontextmanager
async def writes_to(fake: FakeEtcd) -> AsyncIterator[Writes]:
    async with serving(fake) as url:
        client = EtcdClient(EtcdSettings((url,), attempt_s=0.3, total_s=0.6))
        keys = PrefixedKeys("/registry")
        try:
            yield Writes(
                client, keys, Reads(client, keys), Leases(client, asyncio.get_running_loop().time), undispatched
            )
        finally:
            await client.close()


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (FULL, StoreFull),
        (NO_LEADER, StoreUnavailable),
        (TOO_LARGE, ValueTooLarge),
        (LARGER, ValueTooLarge),
        (TIMED_OUT, OutcomeUnknown),
    ],
    ids=["no space", "no leader", "too large", "larger", "timed out"],
)
async def test_a_write_that_fails_reports_whether_it_may_have_been_made(
    failure: Failure, error: type[Exception]
) -> None:
    async with writes_to(FakeEtcd(script(failure))) as writes:
        with pytest.raises(error) as raised:
            await writes.create(KEY, b"1", 0)
    assert type(raised.value) is error


async def test_a_write_without_a_response_may_have_been_made() -> None:
    async def never(request: Any, context: Any) -> Any:
        await asyncio.Event().wait()

    async with writes_to(FakeEtcd(never)) as writes:
        with pytest.raises(OutcomeUnknown):
            await writes.update(KEY, b"2", 5, 0)


@pytest.mark.parametrize(
    "failure",
    [NO_LEADER, LEARNER, NOT_CAPABLE, USERS_CHANGED],
    ids=["no leader", "learner", "not capable", "users changed"],
)
async def test_a_write_that_surely_was_not_made_is_tried_again(failure: Failure) -> None:
    fake = FakeEtcd(script(failure, written(7)))
    async with writes_to(fake) as writes:
        assert await writes.create(KEY, b"1", 0) == 7
    assert fake.transactions == 2


async def test_a_write_that_may_have_been_made_is_tried_again_under_the_same_condition() -> None:
    async with writes_to(FakeEtcd(script(TIMED_OUT, written(7)))) as writes:
        assert await writes.update(KEY, b"1", 5, 0) == 7


async def test_a_write_that_was_made_though_etcd_did_not_are_reported_is_acknowledged() -> None:
    async with writes_to(FakeEtcd(script(TIMED_OUT, refused(NAME, b"1", 6)))) as writes:
        assert await writes.update(KEY, b"1", 5, 0) == 6


async def test_a_create_that_may_have_been_made_is_looked_for_and_not_tried_again() -> None:
    fake = FakeEtcd(script(TIMED_OUT, written(7)))
    async with writes_to(fake) as writes:
        with pytest.raises(OutcomeUnknown):
            await writes.create(KEY, b"1", 0)
        fake.transact = script(TIMED_OUT)
        fake.row = (NAME, b"another's", 8)
        with pytest.raises(OutcomeUnknown):
            await writes.create(KEY, b"1", 0)
        fake.row = (NAME, b"1", 9)
        assert await writes.create(KEY, b"1", 0) == 9
    assert fake.transactions == 3


@pytest.mark.parametrize("found", [refused(NAME, b"other", 6), refused(NAME, b"", 0)], ids=["another's", "nothing"])
async def test_a_row_that_may_have_been_written_over_is_of_unknown_outcome(found: Any) -> None:
    async with writes_to(FakeEtcd(script(TIMED_OUT, found))) as writes:
        with pytest.raises(OutcomeUnknown):
            await writes.update(KEY, b"1", 5, 0)


async def test_a_delete_of_a_row_that_is_gone_after_a_failure_is_of_unknown_outcome() -> None:
    async with writes_to(FakeEtcd(script(TIMED_OUT, refused(NAME, b"", 0)))) as writes:
        with pytest.raises(OutcomeUnknown):
            await writes.delete(KEY, 5)


async def test_a_full_store_after_an_attempt_that_may_have_written_is_of_unknown_outcome() -> None:
    async with writes_to(FakeEtcd(script(TIMED_OUT, FULL))) as writes:
        with pytest.raises(OutcomeUnknown):
            await writes.create(KEY, b"1", 0)


async def test_a_refusal_without_a_failure_before_is_certain() -> None:
    async with writes_to(FakeEtcd(script(refused(NAME, b"1", 6)))) as writes:
        with pytest.raises(KeyExists):
            await writes.create(KEY, b"1", 0)
        with pytest.raises(Conflict) as conflict:
            await writes.update(KEY, b"1", 5, 0)
    assert conflict.value.current is not None
    assert conflict.value.current.mod_revision == 6


@pytest.mark.parametrize("before", [(), (TIMED_OUT,)], ids=["first attempt", "after an unknown outcome"])
async def test_a_write_whose_fence_fails_is_refused_and_not_retried(before: tuple[Failure, ...]) -> None:
    fake = FakeEtcd(script(*before, refused(NAME, b"0", 5)))
    async with writes_to(fake) as writes:
        writes.fence = Compare(target=TARGET_MOD, key=b"marker", mod_revision=3)
        with pytest.raises(StoreUnavailable, match="nothing was written"):
            await writes.update(KEY, b"1", 5, 0)
    assert fake.transactions == 1 + len(before)


async def test_a_dead_server_surely_wrote_nothing() -> None:
    client = EtcdClient(EtcdSettings(("http://127.0.0.1:1",), total_s=0.3))
    keys = PrefixedKeys("/registry")
    writes = Writes(client, keys, Reads(client, keys), Leases(client, asyncio.get_running_loop().time), undispatched)
    with pytest.raises(StoreUnavailable):
        await writes.create(KEY, b"1", 0)
    await client.close()


async def test_keys_outside_the_registry_are_refused() -> None:
    async with writes_to(FakeEtcd(script(written(7)))) as writes:
        with pytest.raises(ValueError, match="/registry/"):
            await writes.create("/elsewhere/a", b"1", 0)
