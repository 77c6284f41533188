"""Send streamed responses, and switch connections to another protocol.

Concurrency: one task sends a streamed response, and another one waits for the client to disconnect.
"""

import asyncio
import contextlib
import logging
from typing import Final

from sampan.http.server.exchange import StreamedResponse, Takeover, head_of_stream, head_of_takeover
from sampan.http.tunnel import Tunnel
from sampan.wire.http1 import BodyWriter

_log = logging.getLogger("sampan.http")

_TOUCH_S: Final = 1.0


async def send_parts(response: StreamedResponse, connection: Tunnel, idle_timeout_s: float) -> None:
    """Send a response as its parts arrive. Returns also when the client disconnects.

    Raises `ConnectionAbortedError` if the body is incomplete, and `TimeoutError`.
    """
    async with contextlib.aclosing(response.parts), asyncio.TaskGroup() as tasks:
        sending = tasks.create_task(_send(response, connection, idle_timeout_s), name="answer")
        watching = tasks.create_task(_until_gone(connection, sending), name="client")
        sending.add_done_callback(lambda _: watching.cancel())
    if not sending.cancelled() and not sending.result():
        raise ConnectionAbortedError("the answer has no end")


async def take_over(response: Takeover, ahead: bytes, connection: Tunnel, idle_timeout_s: float) -> None:
    """Run another protocol on the connection. Its exceptions are logged.

    Raises `TimeoutError` when the connection is idle for too long.
    """
    connection.write(head_of_takeover(response))
    connection.unread(ahead)
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(idle_timeout_s) as idle:

        def touched() -> None:
            until = loop.time() + idle_timeout_s
            if until - (idle.when() or 0.0) >= _TOUCH_S:
                idle.reschedule(until)

        connection.touched = touched
        try:
            await response.serve(connection)
        except OSError:
            pass
        except Exception:
            _log.exception("upgraded connection failed")


async def _send(response: StreamedResponse, connection: Tunnel, idle_timeout_s: float) -> bool:
    """Send all parts. Return True if the body is complete. A disconnected client is not an error."""
    connection.write(head_of_stream(response))
    writer = BodyWriter(chunked=True)
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(idle_timeout_s) as idle:
            async for part in response.parts:
                if part:
                    connection.write(writer.data(part))
                    await connection.drain()
                    idle.reschedule(loop.time() + idle_timeout_s)
            connection.write(writer.end())
            await connection.drain()
    except OSError:
        return False
    except Exception:
        _log.exception("cannot complete a streamed response; its connection is closed")
        return False
    return True


async def _until_gone(connection: Tunnel, sending: "asyncio.Task[bool]") -> None:
    """Discard data of the client until it disconnects: no request is served after a stream."""
    with contextlib.suppress(OSError):
        while await connection.read():
            pass
    sending.cancel()
