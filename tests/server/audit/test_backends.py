"""Audit backends: files, webhooks and buffers, and their failures."""

import asyncio
import datetime as dt
import gzip
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from sampan.registry.webhook.client import WebhookError
from sampan.server.audit.backend import ForgivingBackend, UnionBackend
from sampan.server.audit.buffered import BatchSettings, BufferedBackend
from sampan.server.audit.event import AuditEvent
from sampan.server.audit.log import LogBackend
from sampan.server.audit.metrics import AuditMetrics
from sampan.server.audit.rotation import RotatingFile, RotationSettings
from sampan.server.audit.truncate import TruncateBackend, TruncateSettings
from sampan.server.audit.webhook import WebhookBackend
from tests.server.audit.recorder import Recorder, event_of

START = dt.datetime(2026, 1, 2, 3, 4, 5, 678_000, dt.UTC)


class Calendar:
    """Time that goes on by an hour at each look."""

    def __init__(self) -> None:
        self.time = START - dt.timedelta(hours=1)

    def now(self) -> dt.datetime:
        """The time."""
        self.time += dt.timedelta(hours=1)
        return self.time


def names_in(directory: Path) -> list[str]:
    return sorted(file.name for file in directory.iterdir())


# --- the log


async def test_a_log_has_a_line_of_json_for_each_event(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "audit.log"
    writer = RotatingFile(file, RotationSettings(), Calendar().now)
    backend = LogBackend(writer, "json", AuditMetrics())
    assert await backend.process([event_of(), event_of(5)])
    assert await backend.process([event_of()])
    lines = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    assert [line["kind"] for line in lines] == ["Event"] * 3
    assert lines[1]["requestObject"] == {"data": "xxxxx"}
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


async def test_the_old_format_is_one_line_of_text(tmp_path: Path) -> None:
    file = tmp_path / "audit.log"
    writer = RotatingFile(file, RotationSettings(), Calendar().now)
    more: dict[str, Any] = {"user": {"username": "jane", "groups": ["a", "b"]}, "impersonatedUser": {"username": "joe"}}
    more |= {"sourceIPs": ["::1"], "objectRef": {"namespace": "n"}, "responseStatus": {"code": 201}}
    await LogBackend(writer, "legacy", AuditMetrics()).process([event_of(**more), event_of()])
    assert file.read_text().splitlines() == [
        '2026-01-02T03:04:05.000006Z AUDIT: id="a-1" stage="ResponseComplete" ip="::1" method="create" user="jane" '
        'groups="\\"a\\",\\"b\\"" as="joe" asgroups="<lookup>" user-agent="" namespace="n" uri="/api" response="201"',
        '2026-01-02T03:04:05.000006Z AUDIT: id="a-1" stage="ResponseComplete" ip="<unknown>" method="create" '
        'user="jane" groups="<none>" as="<self>" asgroups="<lookup>" user-agent="" namespace="<none>" uri="/api" '
        'response="<deferred>"',
    ]


def test_a_full_file_is_rotated(tmp_path: Path) -> None:
    writer = RotatingFile(tmp_path / "audit.log", RotationSettings(max_size_bytes=10), Calendar().now)
    assert [writer.write(b"12345678\n"), writer.write(b"abcdefgh\n")] == [False, True]
    assert names_in(tmp_path) == ["audit-2026-01-02T03-04-05.678.log", "audit.log"]
    assert (tmp_path / "audit.log").read_bytes() == b"abcdefgh\n"


def test_a_restart_appends_to_the_file(tmp_path: Path) -> None:
    for _ in range(2):
        writer = RotatingFile(tmp_path / "audit.log", RotationSettings(max_size_bytes=0), Calendar().now)
        writer.write(b"line\n")
        writer.close()
    assert (tmp_path / "audit.log").read_bytes() == b"line\nline\n"


def test_backups_are_compressed_and_removed(tmp_path: Path) -> None:
    (tmp_path / "audit-1999-01-01T00-00-00.000.log").write_bytes(b"old")
    (tmp_path / "audit-notes.log").write_bytes(b"not ours")
    settings = RotationSettings(max_size_bytes=3, max_backups=2, max_age_days=366, compress=True)
    writer = RotatingFile(tmp_path / "audit.log", settings, Calendar().now)
    for line in (b"one\n", b"two\n", b"three\n", b"four\n"):
        writer.write(line)
    writer.tidy()
    packed = [name for name in names_in(tmp_path) if name.endswith(".gz")]
    assert len(packed) == 2
    assert [gzip.decompress((tmp_path / name).read_bytes()) for name in packed] == [b"two\n", b"three\n"]
    assert [name for name in names_in(tmp_path) if not name.endswith(".gz")] == ["audit-notes.log", "audit.log"]


async def test_backups_are_tidied_while_the_log_is_written(tmp_path: Path) -> None:
    tidied = asyncio.Event()
    loop = asyncio.get_running_loop()

    class Writer(RotatingFile):
        """Writer that records the calls of `tidy`."""

        def tidy(self) -> None:
            super().tidy()
            loop.call_soon_threadsafe(tidied.set)

    writer = Writer(tmp_path / "audit.log", RotationSettings(max_size_bytes=1, max_backups=1), Calendar().now)
    backend = LogBackend(writer, "json", AuditMetrics())
    running = asyncio.create_task(backend.run())
    for _ in range(4):
        await backend.process([event_of()])
    async with asyncio.timeout(60):
        while len(names_in(tmp_path)) != 2:
            await tidied.wait()
            tidied.clear()
    running.cancel()


async def test_events_are_counted_if_the_log_cannot_be_written() -> None:
    class Broken:
        """A full disk."""

        def write(self, data: bytes) -> bool:
            raise OSError(28, "No space left on device")

        def tidy(self) -> None:
            raise AssertionError

    metrics = AuditMetrics()
    backend = LogBackend(Broken(), "json", metrics)
    assert not await backend.process([event_of(), event_of()])
    assert metrics.errors.counts == {("log",): 2}
    assert await ForgivingBackend(backend).process([event_of()])
    assert not await UnionBackend([Recorder(), backend]).process([event_of()])


class SlowWriter:
    """Writer that blocks until the test releases it."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.writes: list[list[str]] = []

    def write(self, data: bytes) -> bool:
        """Takes lines, and its time."""
        self.writes.append([orjson.loads(line)["auditID"] for line in data.splitlines()])
        self.begun.set()
        assert self.go_on.wait(10)
        return False

    def tidy(self) -> None:
        """Nothing to do."""


async def test_events_that_arrive_during_a_slow_write_are_written_together() -> None:
    writer = SlowWriter()
    backend = LogBackend(writer, "json", AuditMetrics())
    waiting = [asyncio.create_task(backend.process([event_of(auditID="0")]))]
    await asyncio.to_thread(writer.begun.wait, 10)
    waiting += [asyncio.create_task(backend.process([event_of(auditID=str(number))])) for number in (1, 2, 3)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    writer.go_on.set()
    assert all(await asyncio.gather(*waiting))
    assert writer.writes == [["0"], ["1", "2", "3"]]


async def test_a_cancelled_request_does_not_cancel_the_write_of_other_events() -> None:
    writer = SlowWriter()
    backend = LogBackend(writer, "json", AuditMetrics())
    gone = asyncio.create_task(backend.process([event_of(auditID="gone")]))
    await asyncio.to_thread(writer.begun.wait, 10)
    other = asyncio.create_task(backend.process([event_of(auditID="other")]))
    await asyncio.sleep(0)
    gone.cancel()
    writer.go_on.set()
    assert await other
    assert writer.writes == [["gone"], ["other"]]


# --- the size


async def test_events_that_are_too_long_lose_their_bodies() -> None:
    recorder, metrics = Recorder(), AuditMetrics()
    backend = TruncateBackend(recorder, TruncateSettings(True, 10_000, 400), metrics)
    assert await backend.process([event_of(1000, "Request"), event_of(10, "Request")])
    first, second = recorder.events
    assert ("requestObject" in first, "requestObject" in second) == (False, True)
    assert first["annotations"] == {"audit.k8s.io/truncated": "true"}
    assert "annotations" not in second


async def test_events_that_are_too_long_without_bodies_are_dropped() -> None:
    recorder, metrics = Recorder(), AuditMetrics()
    backend = TruncateBackend(recorder, TruncateSettings(True, 10_000, 400), metrics)
    await backend.process([event_of(userAgent="a" * 500), event_of()])
    assert len(recorder.events) == 1
    assert metrics.errors.counts == {("truncate",): 1}


async def test_batches_that_are_too_large_are_split() -> None:
    recorder = Recorder()
    size = len(event_of(100).document()) + 1
    settings = TruncateSettings(True, 2 * size, size)
    await TruncateBackend(recorder, settings, AuditMetrics()).process([event_of(100)] * 5)
    assert [len(batch) for batch in recorder.batches] == [2, 2, 1]


# --- the buffer


class Gate(Recorder):
    """Keeps batches waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.requested, self.open = asyncio.Event(), asyncio.Event()

    async def process(self, events: Sequence[AuditEvent]) -> bool:
        """Wait for the gate."""
        self.requested.set()
        await self.open.wait()
        return await super().process(events)


async def test_a_full_buffer_drops_events_and_no_request_waits() -> None:
    metrics, gate = AuditMetrics(), Gate()
    backend = BufferedBackend(gate, BatchSettings(buffer_size=3), metrics)
    assert await backend.process([event_of()] * 5)
    assert await backend.process([event_of()])
    assert metrics.errors.counts == {("buffered",): 3}


async def test_a_full_batch_is_sent_at_once_and_the_rest_at_the_end() -> None:
    recorder = Gate()
    recorder.open.set()
    backend = BufferedBackend(recorder, BatchSettings(max_batch_size=2), AuditMetrics())
    running = asyncio.create_task(backend.run())
    await backend.process([event_of()] * 3)
    await asyncio.wait_for(recorder.requested.wait(), 60)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [len(batch) for batch in recorder.batches] == [2, 1]


async def test_shutdown_waits_for_batches_in_progress() -> None:
    gate = Gate()
    backend = BufferedBackend(gate, BatchSettings(max_batch_size=1), AuditMetrics())
    running = asyncio.create_task(backend.run())
    await backend.process([event_of()])
    await gate.requested.wait()
    running.cancel()
    asyncio.get_running_loop().call_soon(gate.open.set)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(gate.events) == 1


async def test_a_batch_that_is_not_full_waits_for_the_maximum_time() -> None:
    recorder = Gate()
    recorder.open.set()
    backend = BufferedBackend(recorder, BatchSettings(max_batch_wait_s=0.01), AuditMetrics())
    running = asyncio.create_task(backend.run())
    await backend.process([event_of()])
    await asyncio.wait_for(recorder.requested.wait(), 60)
    running.cancel()
    assert [len(batch) for batch in recorder.batches] == [1]


async def test_batches_are_throttled(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    settings = BatchSettings(max_batch_size=1, throttle_qps=2, throttle_burst=3, concurrent=False)
    recorder = Recorder()
    backend = BufferedBackend(recorder, settings, AuditMetrics(), clock=lambda: 0.0)
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr("sampan.server.audit.buffered.asyncio.sleep", noted)
    await backend.process([event_of()] * 5)
    running = asyncio.create_task(backend.run())
    while len(recorder.events) < 5:
        await sleep(0)
    running.cancel()
    assert waits[:2] == [0.5, 1.0]


# --- the webhook


class Hook:
    """A webhook that fails so many times."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.bodies: list[bytes] = []

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        """Take a body."""
        self.bodies.append(body)
        if len(self.bodies) <= self.failures:
            raise WebhookError("connection refused")
        return b"{}"


async def test_a_webhook_gets_a_list_of_events() -> None:
    hook = Hook(0)
    assert await WebhookBackend(hook, AuditMetrics()).process([event_of(), event_of()])
    sent = orjson.loads(hook.bodies[0])
    assert (sent["kind"], sent["apiVersion"], sent["metadata"]) == ("EventList", "audit.k8s.io/v1", {})
    assert len(sent["items"]) == 2
    assert "kind" not in sent["items"][0]


@pytest.mark.parametrize(("failures", "taken", "calls"), [(4, True, 5), (5, False, 5)])
async def test_a_webhook_that_fails_is_tried_again_five_times_in_all(failures: int, taken: bool, calls: int) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    hook, metrics = Hook(failures), AuditMetrics()
    assert await WebhookBackend(hook, metrics, sleep=sleep).process([event_of()]) is taken
    assert len(hook.bodies) == calls
    assert all(base <= wait <= base * 1.2 for base, wait in zip((10, 15, 22.5, 33.75), waits, strict=True))
    assert metrics.errors.counts == ({} if taken else {("webhook",): 1})


async def test_lost_events_are_named_in_the_log_without_their_bodies(caplog: pytest.LogCaptureFixture) -> None:
    AuditMetrics().failed("log", "no room", [event_of(30)])
    (record,) = caplog.records
    assert re.search(r"a-1 ResponseComplete", str(record.__dict__))
    assert "xxx" not in str(record.__dict__)
