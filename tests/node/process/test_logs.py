"""Logs on disk: CRI's format, bounded files, and reads of parts."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.node.process.logs.log_file import FILES_MAX, LINE_BYTES_MAX, LogFile, log_files
from sampan.node.process.logs.log_reader import log_tail, read_log
from sampan.node.runtime import LogOptions
from tests.properties import SHARED_FIXTURES, examples

NOW = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)


class Clock:
    """Clock that shows the time it is set to."""

    def __init__(self) -> None:
        self.instant = NOW

    def now(self) -> dt.datetime:
        return self.instant


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(tmp_path: Path, clock: Clock) -> LogFile:
    return LogFile(tmp_path / "0.log", clock)


async def read(log: LogFile, **options: Any) -> bytes:
    return b"".join([part async for part in parts(log, **options)])


def parts(log: LogFile, **options: Any) -> AsyncIterator[bytes]:
    return read_log(log.path, LogOptions(**options), NOW + dt.timedelta(minutes=1), log)


async def test_entries_have_the_format_of_cri(log: LogFile) -> None:
    log.write("stdout", b"one\ntwo")
    log.write("stderr", b"three\n")
    log.close()
    assert log.path.read_bytes() == (
        b"2026-01-02T03:04:05.000000000Z stdout F one\n"
        b"2026-01-02T03:04:05.000000000Z stderr F three\n"
        b"2026-01-02T03:04:05.000000000Z stdout P two\n"
    )


@settings(suppress_health_check=SHARED_FIXTURES, max_examples=examples(25))
@given(
    chunks=st.lists(
        st.one_of(
            st.binary(max_size=40),
            st.sampled_from([b"\n", b"\r\n", b"x" * LINE_BYTES_MAX, b"y" * (2 * LINE_BYTES_MAX + 1) + b"\n", b" F "]),
        ),
        max_size=12,
    ),
    file_bytes_max=st.sampled_from([1, 100, 1 << 20]),
)
async def test_written_output_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], file_bytes_max: int
) -> None:
    log = LogFile(tmp_path_factory.mktemp("log") / "0.log", Clock(), file_bytes_max=max(file_bytes_max, 1))
    whole = b"".join(chunks)
    for chunk in chunks:
        log.write("stdout", chunk)
    log.close()
    found = await read(log)
    # Rotated entries are lost: the oldest ones first, and only whole entries.
    assert whole.endswith(found) if len(log_files(log.path)) == FILES_MAX else found == whole


@settings(suppress_health_check=SHARED_FIXTURES, max_examples=examples(60))
@given(
    lines=st.lists(st.one_of(st.binary(max_size=30), st.just(b"z" * (LINE_BYTES_MAX + 9))), max_size=30),
    tail=st.integers(0, 35),
    rest=st.sampled_from([b"", b"unfinished"]),
    rotated=st.booleans(),
)
async def test_tail_is_the_last_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], tail: int, rest: bytes, rotated: bool
) -> None:
    log = LogFile(tmp_path_factory.mktemp("log") / "0.log", Clock(), file_bytes_max=(1 << 18) if rotated else 1 << 30)
    lines = [line.replace(b"\n", b"_") + b"\n" for line in lines]
    for line in lines:
        log.write("stdout", line)
    log.write("stdout", rest)
    log.close()
    desired = [*lines, rest] if rest else lines
    assert await read(log, tail_lines=tail) == b"".join(desired[len(desired) - min(tail, len(desired)) :])


async def test_timestamp_precedes_each_line_once(log: LogFile) -> None:
    log.write("stdout", b"a\n" + b"b" * LINE_BYTES_MAX + b"c\n")
    stamp = b"2026-01-02T03:04:05.000000000Z "
    assert await read(log, timestamps=True) == stamp + b"a\n" + stamp + b"b" * LINE_BYTES_MAX + b"c\n"


@pytest.mark.parametrize(
    ("options", "found"),
    [
        pytest.param({"since_seconds": 60}, b"new\n", id="since seconds"),
        pytest.param({"since_time": NOW}, b"new\n", id="since a time"),
        pytest.param({"limit_bytes": 5}, b"old\nn", id="so many bytes"),
        pytest.param({"limit_bytes": 0}, b"", id="no bytes"),
        pytest.param({"stream": "Stderr"}, b"", id="the other stream"),
        pytest.param({"stream": "Stdout", "tail_lines": 1}, b"new\n", id="its stream"),
    ],
)
async def test_options_select_entries(log: LogFile, clock: Clock, options: dict[str, Any], found: bytes) -> None:
    clock.instant = NOW - dt.timedelta(hours=1)
    log.write("stdout", b"old\n")
    clock.instant = NOW
    log.write("stdout", b"new\n")
    assert await read(log, **options) == found


async def test_files_are_bounded_in_size_and_number(tmp_path: Path, clock: Clock) -> None:
    log = LogFile(tmp_path / "0.log", clock, file_bytes_max=1000)
    for number in range(300):
        clock.instant += dt.timedelta(seconds=number % 2)
        log.write("stdout", b"line %d\n" % number)
    log.close()
    files = log_files(log.path)
    assert len(files) == FILES_MAX
    assert sum(path.stat().st_size for path in files) < FILES_MAX * 1100
    assert (await read(log)).splitlines()[-1] == b"line 299"


async def test_follow_continues_across_rotations_until_the_end(tmp_path: Path, clock: Clock) -> None:
    log = LogFile(tmp_path / "0.log", clock, file_bytes_max=2000)
    log.write("stdout", b"line 0\n")
    found = b""
    written = 1
    async for part in parts(log, follow=True):
        found += part
        if log.is_closed:
            continue
        log.write("stdout", b"".join(b"line %d\n" % number for number in range(written, written + 7)))
        written += 7
        if written > 500:
            log.close()
    assert found == b"".join(b"line %d\n" % number for number in range(written))


async def test_waiting_reader_notices_the_end(log: LogFile) -> None:
    async def follow() -> bytes:
        return await read(log, follow=True, tail_lines=0)

    log.write("stdout", b"before\n")
    task = asyncio.create_task(follow())
    await asyncio.sleep(0)
    log.write("stderr", b"after\n")
    log.close()
    assert await task == b"after\n"


async def test_unwritable_log_does_not_stop_the_container(log: LogFile, caplog: pytest.LogCaptureFixture) -> None:
    log._size_bytes = 1 << 40
    log.path.parent.chmod(0o700)
    log.path.unlink()
    log.write("stdout", b"lost\n")
    log.write("stdout", b"lost\n")
    assert len(caplog.records) == 1
    assert "dropping the container's output" in caplog.text


async def test_last_lines_are_returned_for_a_message(log: LogFile) -> None:
    for number in range(100):
        log.write("stdout", b"%d %s\n" % (number, b"x" * 50))
    log.close()
    found = log_tail(log.path, lines_max=80, bytes_max=200)
    assert len(found) == 200
    assert found.endswith(b"99 " + b"x" * 50 + b"\n")
    assert log_tail(log.path, lines_max=1, bytes_max=200) == b"99 " + b"x" * 50 + b"\n"
