"""Acknowledged writes stay, through kill -9, SIGTERM, full disks and restarts: a real server on SQLite."""

import asyncio
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.cli.server import Server, failing, running
from tests.e2e.durable import (
    CONFIG_MAPS,
    SERVICES,
    Acknowledged,
    Follower,
    Link,
    ReceivedEvent,
    ServiceWriter,
    Writer,
    history,
    revision_of,
    selected,
)

REPEATS = 5
WRITERS = 6
EVENTS = "/api/v1/namespaces/default/events"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
TIMEOUT_S = 60


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Poll until the condition holds."""
    async with asyncio.timeout(60):
        while not await condition():  # noqa: ASYNC110 (the server is another process: there is no event to wait for)
            await asyncio.sleep(0.02)


class Scene:
    """Writers and watchers that outlive their server."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.writers = [Writer(number, random.Random(f"{seed}-{number}")) for number in range(WRITERS)]
        self.services = ServiceWriter()
        self.followers: list[Follower] = []

    @property
    def acknowledged(self) -> int:
        return sum(len(writer.acknowledged) for writer in self.writers)

    @property
    def newest(self) -> int:
        """The highest revision that any writer or watcher received."""
        reported = [ack.revision for writer in self.writers for ack in writer.acknowledged]
        return max([*reported, *(follower.revision for follower in self.followers)])

    def begin(self, revision: int) -> None:
        """Watch from here on."""
        self.followers = [Follower(revision), Follower(revision), Follower(revision, "&labelSelector=parity%3Deven")]

    async def load(self, server: Server, end: signal.Signals, writes: int) -> None:
        """Load the server, and end it after this many acknowledged writes."""
        until_count = self.acknowledged + writes
        async with asyncio.timeout(TIMEOUT_S), asyncio.TaskGroup() as group:
            clients: list[Writer | ServiceWriter | Follower] = [*self.writers, self.services, *self.followers]
            for client in clients:
                group.create_task(client.run(server))
            while self.acknowledged < until_count:
                assert server.process.poll() is None
                await asyncio.sleep(0.001)
            server.process.send_signal(end)

    async def catch_up(self, server: Server) -> None:
        """Let the watchers see all there is. Gives them up then."""
        last = max(event.revision for event in await history(server, self.followers[0].revision - 1))
        async with asyncio.timeout(TIMEOUT_S):
            tasks = [asyncio.create_task(follower.run(server)) for follower in self.followers]
            await asyncio.gather(*(follower.reach(last) for follower in self.followers[:2]))
            chosen = selected(self.followers[0].seen)
            await self.followers[2].reach(chosen[-1].revision)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def check_acknowledged(writer: Writer, events: list[ReceivedEvent], repeats: int) -> None:
    """Every acknowledged write is in the history at its revision; besides there is at most one write a round whose
    answer got lost.
    """
    names = {ack.name for ack in writer.acknowledged}
    mine = [event for event in events if event.name in names]
    left = iter(mine)
    for ack in writer.acknowledged:
        assert any(is_of(event, ack) for event in left), f"{ack} is lost"
    assert len(mine) - len(writer.acknowledged) <= repeats


def is_of(event: ReceivedEvent, ack: Acknowledged) -> bool:
    """Return whether the event is of this write."""
    if ack.deleted:
        return event.name == ack.name and event.type == "DELETED"
    return (event.name, event.revision, event.number) == (ack.name, ack.revision, ack.number)


async def check_services(server: Server, services: ServiceWriter) -> None:
    """Acknowledged Services have the addresses of the answers, and no address is there twice."""
    async with Link(server) as link:
        items = (await link.request("GET", SERVICES))[2]["items"]
    found = {item["metadata"]["name"]: item["spec"]["clusterIP"] for item in items}
    assert services.ips.items() <= found.items()
    assert len(set(found.values())) == len(found)


async def test_nothing_acknowledged_is_lost_and_watchers_resume_without_gaps_through_kill_9(tmp_path: Path) -> None:
    scene, data = Scene(tmp_path.name), tmp_path / "data"
    start = 0
    for round_number in range(REPEATS):
        with running(data) as server:
            revision = await revision_of(server)
            if not scene.followers:
                start = revision
                scene.begin(revision)
            assert revision >= scene.newest, "the revision has gone back"
            known = [len(writer.acknowledged) for writer in scene.writers]
            writes = 1 if round_number == 1 else scene.random.randint(20, 500)
            await scene.load(server, signal.SIGKILL, writes)
            new = [
                ack.revision
                for writer, count in zip(scene.writers, known, strict=True)
                for ack in writer.acknowledged[count:]
                if ack.revision
            ]
            assert min(new, default=revision + 1) > revision, "a revision was given out twice"
    with running(data) as server:
        await scene.catch_up(server)
        events = await history(server, start)
        await check_services(server, scene.services)
    revisions = [event.revision for event in events]
    assert revisions == sorted(set(revisions))
    for writer in scene.writers:
        assert not writer.codes
        check_acknowledged(writer, events, REPEATS)
    assert scene.followers[0].seen == events
    assert scene.followers[1].seen == events
    assert scene.followers[2].seen == selected(events)


async def test_sigterm_finishes_what_is_under_way_and_ends_watches(tmp_path: Path) -> None:
    scene, data = Scene(tmp_path.name), tmp_path / "data"
    with running(data) as server:
        start = await revision_of(server)
        scene.begin(start)
        await scene.load(server, signal.SIGTERM, 200)
        assert server.process.wait(20) == 0
    assert [follower.ended for follower in scene.followers] == [1, 1, 1]
    assert all(code == 429 for writer in scene.writers for code in writer.codes)
    with running(data) as server:
        events = await history(server, start)
        await check_services(server, scene.services)
    for writer in scene.writers:
        check_acknowledged(writer, events, repeats=1)


async def test_a_second_server_on_the_same_data_is_refused_in_one_line(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        code, out, err = failing(tmp_path / "data")
        assert (code, out) == (1, "")
        assert err == f"sampan: error: the data directory {tmp_path / 'data'} is in use by another sampan process\n"
        assert server.get("/readyz") == (200, b"ok")


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of another process can be set on Linux only")
async def test_a_full_disk_refuses_writes_serves_reads_and_takes_writes_again(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    with running(tmp_path / "data") as server:
        pid = server.process.pid
        body = {"metadata": {"generateName": "big-"}, "data": {"filler": "x" * 100_000}}
        async with Link(server) as link:
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            largest = max((tmp_path / "data" / name).stat().st_size for name in ("state.db", "state.db-wal"))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest + 500_000, hard))
            stored = 0
            while (response := await link.request("POST", CONFIG_MAPS, body))[0] == 201:
                stored += 1
            code, headers, status = response
            assert stored < 20
            assert (code, status["kind"], headers["retry-after"]) == (503, "Status", "5")
            assert status["message"].startswith("the store cannot be written")
            assert len((await link.request("GET", CONFIG_MAPS))[2]["items"]) == stored
            assert (await link.request("GET", "/api/v1/namespaces/default"))[0] == 200
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
            assert (await link.request("POST", CONFIG_MAPS, body))[0] == 201
    with running(tmp_path / "data") as server:
        async with Link(server) as link:
            assert len((await link.request("GET", CONFIG_MAPS))[2]["items"]) == stored + 1


async def test_leases_and_the_expiry_of_events_survive_kill_9(tmp_path: Path) -> None:
    data = tmp_path / "data"
    lease = {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me", "renewTime": "2026-01-01T00:00:00.000001Z"}}
    event = {
        "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reason": "Testing",
    }
    with running(data) as server:
        async with Link(server) as link:
            assert (await link.request("POST", LEASES, lease))[0] == 201
            code, _, created = await link.request("POST", EVENTS, event)
            assert code == 201, created
        server.process.kill()
        server.process.wait()
    make_due(data / "state.db")
    with running(data) as server:
        async with Link(server) as link:
            assert (await link.request("GET", f"{LEASES}/l"))[2]["spec"] == lease["spec"]

            async def expired() -> bool:
                return (await link.request("GET", f"{EVENTS}/e"))[0] == 404

            await until(expired)
            after = created["metadata"]["resourceVersion"]
            path = f"{EVENTS}?watch=1&resourceVersion={after}&timeoutSeconds=1"
            assert [event["type"] async for event in link.events(path)] == ["DELETED"]


def make_due(database: Path) -> None:
    """Let the stored Event, which has an hour to live, expire now."""
    connection = sqlite3.connect(database)
    try:
        rows = connection.execute("SELECT key, expires_at FROM current WHERE expires_at > 0").fetchall()
        assert [key for key, _ in rows] == ["/registry/events/default/e"]
        assert 3500 < rows[0][1] - time.time() < 3700
        connection.execute("UPDATE current SET expires_at = ? WHERE expires_at > 0", (time.time(),))
        connection.commit()
    finally:
        connection.close()
