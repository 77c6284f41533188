"""The channel between a server and its process of control loops."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from sampan.app.controller_manager import channel
from sampan.app.controller_manager.channel import ChannelClosed, ReportChannel, serve_channel
from sampan.operator.reports import ControllerReport


class Echo:
    """Reports that repeat the query."""

    def report(self, query: str, etag: str = "") -> ControllerReport:
        return ControllerReport(304 if etag else 200, query.encode() * 1000, etag)


@contextmanager
def stdin_is(end: socket.socket) -> Iterator[None]:
    """Use a socket as standard input."""
    before = channel._STDIN
    channel._STDIN = end.fileno()  # type: ignore[misc]
    try:
        yield
    finally:
        channel._STDIN = before  # type: ignore[misc]


@asynccontextmanager
async def connected(reports: Any) -> AsyncIterator[tuple[ReportChannel, asyncio.Event, socket.socket]]:
    ours, theirs = socket.socketpair()
    closed, opened = asyncio.Event(), ReportChannel()
    with ours, theirs, stdin_is(theirs):
        task = asyncio.create_task(serve_channel(reports, closed.set))
        await opened.open(ours)
        try:
            yield opened, closed, ours
        finally:
            opened.close()
            task.cancel()
            await asyncio.wait({task})


async def test_reports_arrive_in_order() -> None:
    async with connected(Echo()) as (opened, _, _):
        found = await asyncio.gather(*(opened.report(str(number), "") for number in range(20)))
        assert [each.body[:2] for each in found] == [(str(number) * 1000)[:2].encode() for number in range(20)]
        assert await opened.report("", '"tag"') == ControllerReport(304, b"", '"tag"')


async def test_the_process_ends_with_its_server() -> None:
    async with connected(Echo()) as (opened, closed, ours):
        await opened.report("a", "")
        opened.close()
        ours.close()
        await asyncio.wait_for(closed.wait(), 30)
        with pytest.raises(ChannelClosed):
            await opened.report("a", "")


async def test_a_long_query_is_refused_before_it_is_sent() -> None:
    async with connected(Echo()) as (opened, _, _):
        assert (await opened.report("a" * 200_000, "")).code == 400
        assert (await opened.report("a", "b" * 200_000)).code == 400
        assert (await opened.report("\0\n\x80" * 1000, "")).code == 200


async def test_a_silent_process_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "RESPONSE_S", 0.05)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        opened = ReportChannel()
        await opened.open(ours)
        for _ in range(3):
            with pytest.raises(ChannelClosed, match="do not respond"):
                await opened.report("a", "")
        theirs.setblocking(False)
        assert theirs.recv(1000).count(b"\n") == 1, "no query is sent before the response to the one before"
        opened.close()
        assert os.fstat(ours.fileno())


async def respond(theirs: socket.socket, text: bytes) -> None:
    """Respond to one query by hand, the head and the body apart."""
    await asyncio.get_running_loop().sock_sendall(theirs, b'{"code":200,"length":%d}\n' % len(text))
    await asyncio.sleep(0)
    await asyncio.get_running_loop().sock_sendall(theirs, text)


@pytest.mark.parametrize("parts", ["nothing", "the head", "half of the body"])
async def test_a_late_response_is_dropped_and_reports_continue(monkeypatch: pytest.MonkeyPatch, parts: str) -> None:
    monkeypatch.setattr(channel, "RESPONSE_S", 0.05)
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    sent = b'{"code":200,"length":4}\nlate'
    early = {"nothing": 0, "the head": len(sent) - 4, "half of the body": len(sent) - 2}[parts]
    with ours, theirs:
        opened = ReportChannel()
        await opened.open(ours)
        theirs.send(sent[:early])
        with pytest.raises(ChannelClosed, match="do not respond"):
            await opened.report("first", "")
        theirs.send(sent[early:])
        monkeypatch.setattr(channel, "RESPONSE_S", 30.0)
        second = asyncio.create_task(opened.report("second", ""))
        await respond(theirs, b"second")
        assert (await second).body == b"second"
        opened.close()


async def test_a_client_that_goes_leaves_no_response_to_the_next() -> None:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    with ours, theirs:
        opened = ReportChannel()
        await opened.open(ours)
        gone = asyncio.create_task(opened.report("first", ""))
        await asyncio.get_running_loop().sock_recv(theirs, 1000)
        gone.cancel()
        await asyncio.wait({gone})
        second = asyncio.create_task(opened.report("second", ""))
        await respond(theirs, b"first")
        await respond(theirs, b"second")
        assert (await second).body == b"second"
        opened.close()
