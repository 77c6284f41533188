"""Channel between a server and its process of control loops: the standard input of the process, which is a socket.

The server sends queries for reports as lines of JSON, and the process responds in the same order. When the channel
closes, the process ends.

Concurrency: `serve_channel` is one task of the process. `ReportChannel` belongs to the task that runs the process; its
requests wait for each other.
"""

import asyncio
import os
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import msgspec

from sampan.operator.reports import ControllerReport, ControllerReports

RESPONSE_S: Final = 5.0
"""Time in which the process must respond. A late response is dropped before the next query."""
_QUERY_BYTES_MAX: Final = 64 << 10
_TEXT_LENGTH_MAX: Final = 4096
_BODY_BYTES_MAX: Final = 32 << 20
_STDIN: Final = 0
_SILENT: Final = "the control loops do not respond"


class ChannelClosed(Exception):
    """The process has ended, or does not respond."""


class _Query(msgspec.Struct):
    query: str
    etag: str = ""


class _Head(msgspec.Struct):
    code: int
    length: int
    tag: str = ""


async def serve_channel(reports: ControllerReports, closed: Callable[[], None]) -> None:
    """Respond to the queries that arrive on standard input. Call `closed` when it ends."""
    if not stat.S_ISSOCK(os.fstat(_STDIN).st_mode):
        await _until_end_of_pipe()
        closed()
        return
    end = socket.socket(fileno=os.dup(_STDIN))
    reader, writer = await asyncio.open_unix_connection(sock=end, limit=_QUERY_BYTES_MAX)
    try:
        with suppress(ConnectionError, ValueError):  # too long a line
            while line := await reader.readline():
                found = _report(reports, line)
                head = msgspec.json.encode(_Head(found.code, len(found.body), found.tag))
                writer.write(head + b"\n" + found.body)
                await writer.drain()
    finally:
        writer.close()
    closed()


def _report(reports: ControllerReports, line: bytes) -> ControllerReport:
    try:
        received = msgspec.json.decode(line, type=_Query)
    except msgspec.MsgspecError:
        return ControllerReport(400, b"the query is no JSON\n")
    return reports.report(received.query, received.etag)


async def _until_end_of_pipe() -> None:
    """Wait until standard input ends. Drop what arrives."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def readable() -> None:
        if not os.read(_STDIN, 4096):
            loop.remove_reader(_STDIN)
            ended.set_result(None)

    loop.add_reader(_STDIN, readable)
    try:
        await ended
    finally:
        loop.remove_reader(_STDIN)


class ReportChannel:
    """The server's end."""

    def __init__(self) -> None:
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._turn = asyncio.Lock()
        self._unread = False
        """True while the response to a query is in the stream, or on its way."""
        self._head: _Head | None = None
        """Head of the response whose body is read now."""

    async def open(self, end: socket.socket) -> None:
        """Use a socket, which stays the caller's."""
        self._unread, self._head = False, None
        own: Any = end.dup()
        self._streams = await asyncio.open_unix_connection(sock=own, limit=_QUERY_BYTES_MAX)

    def close(self) -> None:
        """Refuse further requests."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def report(self, query: str, etag: str) -> ControllerReport:
        """Return a report of the process. Raises `ChannelClosed`."""
        if len(query) + len(etag) > _TEXT_LENGTH_MAX:
            return ControllerReport(400, b"the query is too long\n")
        async with self._turn:
            if self._streams is None:
                raise ChannelClosed("the control loops do not run")
            try:
                async with asyncio.timeout(RESPONSE_S):
                    return await self._response(*self._streams, _Query(query, etag))
            except TimeoutError as error:
                raise ChannelClosed(_SILENT) from error
            except (OSError, EOFError, ValueError, msgspec.MsgspecError) as error:
                self.close()
                raise ChannelClosed(_SILENT) from error

    async def _response(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, query: _Query
    ) -> ControllerReport:
        # A timeout, or a client that has gone, leaves the response to an earlier query in the stream. It would be taken
        # for that of this one.
        while self._unread:
            await self._next(reader)
        writer.write(msgspec.json.encode(query) + b"\n")
        self._unread = True
        await writer.drain()
        return await self._next(reader)

    async def _next(self, reader: asyncio.StreamReader) -> ControllerReport:
        """Read one response. After a cancellation, the next call continues with the same response."""
        if self._head is None:
            self._head = msgspec.json.decode(await reader.readuntil(b"\n"), type=_Head)
        head = self._head
        if head.length > _BODY_BYTES_MAX:
            raise ValueError("the report is too long")
        body = await reader.readexactly(head.length)
        self._head, self._unread = None, False
        return ControllerReport(head.code, body, head.tag)
