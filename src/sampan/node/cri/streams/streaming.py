"""Client of a runtime's streaming server: exec and attach over SPDY/3.1.

Concurrency: a session owns the task that reads its connection, until `close`.
Source: cri-streaming pkg/streaming/remotecommand (1.36); containerd internal/cri/streamingserver.
"""

import asyncio
import contextlib
import json
from typing import Any, Final
from urllib.parse import urlsplit

from sampan.core.addresses.dial import create_connection
from sampan.core.event_loop.task_scope import TaskScope
from sampan.http.client.handshake import HandshakeFailed, switch_protocol
from sampan.http.tunnel import Tunnel
from sampan.node.server.spdy import SpdyConnection, SpdyStream
from sampan.node.sessions import SessionFailed, Streams
from sampan.wire.http1 import request_head

_PROTOCOL: Final = "v4.channel.k8s.io"
_STATUS_BYTES_MAX: Final = 64 << 10
_CONNECT_TIMEOUT_S: Final = 30.0


async def open_session(url: str, streams: Streams, *, ends_stdin: bool = True) -> "SpdySession":
    """Connect to a URL that the runtime has returned, and open the streams. Raises `OSError`.

    `ends_stdin`: False if the end of the client's input is not sent, because containerd would then detach the output.
    """
    async with asyncio.timeout(_CONNECT_TIMEOUT_S):
        tunnel = await _upgraded(url)
    return SpdySession(tunnel, streams, ends_stdin=ends_stdin)


async def _upgraded(url: str) -> Tunnel:
    """Return a connection that was upgraded to SPDY. Raises `OSError`."""
    where = urlsplit(url)
    host, port = where.hostname or "127.0.0.1", where.port or 80
    tunnel = await create_connection(lambda: Tunnel(half_open=True), host, port)
    target = f"{where.path}?{where.query}" if where.query else where.path
    headers = {
        "Host": where.netloc,
        "Connection": "Upgrade",
        "Upgrade": "SPDY/3.1",
        "X-Stream-Protocol-Version": _PROTOCOL,
        "Content-Length": "0",
    }
    try:
        await switch_protocol(tunnel, "POST", request_head("POST", target, headers.items()))
    except HandshakeFailed as error:
        tunnel.transport.abort()
        raise ConnectionRefusedError(f"the container runtime {error} during the upgrade to SPDY") from None
    return tunnel


class SpdySession:
    """Session of a process whose streams are SPDY streams."""

    def __init__(self, tunnel: Tunnel, streams: Streams, *, ends_stdin: bool = True) -> None:
        self._tunnel = tunnel
        self._ends_stdin = ends_stdin
        self._connection = SpdyConnection(tunnel, lambda stream: False, is_client=True)
        self._error = self._open("error")
        self._stdin = self._open("stdin") if streams.stdin else None
        self._stdout = self._open("stdout") if streams.stdout else None
        self._stderr = self._open("stderr") if streams.stderr and not streams.tty else None
        self._resize = self._open("resize") if streams.tty else None
        self._tasks = TaskScope()
        self._tasks.begin(self._run(), "streams of a command")

    async def write_stdin(self, data: bytes) -> None:
        """Write to the process's input."""
        if self._stdin is not None:
            with contextlib.suppress(OSError):
                await self._stdin.write(data)

    async def close_stdin(self) -> None:
        """End the process's input."""
        if self._stdin is not None and self._ends_stdin:
            await self._stdin.close()

    async def read_stdout(self) -> bytes:
        """Return the next output."""
        return b"" if self._stdout is None else await self._stdout.read()

    async def read_stderr(self) -> bytes:
        """Return the next output on stderr."""
        return b"" if self._stderr is None else await self._stderr.read()

    def resize(self, columns: int, rows: int) -> None:
        """Set the size of the terminal."""
        if self._resize is not None and not self._resize.is_lost:
            size = json.dumps({"Width": columns, "Height": rows}).encode()
            self._resize.send(size)

    async def wait(self) -> int:
        """Return the exit code. Raises `SessionFailed` if the process could not be started."""
        text = b""
        while data := await self._error.read():
            text += data[: _STATUS_BYTES_MAX - len(text)]
        return exit_code_of(text)

    async def close(self) -> None:
        """Close the connection, and wait for the end of its tasks."""
        self._connection.close()
        await self._tasks.aclose()
        self._tunnel.transport.close()

    def _open(self, kind: str) -> SpdyStream:
        return self._connection.open({"streamtype": kind})

    async def _run(self) -> None:
        with contextlib.suppress(OSError):
            await self._connection.run()


def exit_code_of(text: bytes) -> int:
    """Return the exit code in the status that ends a session; 0 for a success. Raises `SessionFailed`."""
    if not text:
        return 0
    try:
        status: Any = json.loads(text)
        if status["status"] == "Success":
            return 0
        for cause in (status.get("details") or {}).get("causes") or ():
            if cause.get("reason") == "ExitCode":
                return int(cause["message"])
        raise SessionFailed(str(status.get("message", "")))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise SessionFailed(text.decode(errors="replace")) from None
