"""What follows the head of an answer that is not whole: parts of a body, or another protocol.

Concurrency: a streamed answer is sent by one task while another one looks whether the client goes.
"""

import asyncio
import contextlib
import logging
from typing import Final

from sampan.operator.http.exchange import StreamedAnswer, Takeover, head_of_stream, head_of_takeover
from sampan.operator.http.tunnel import Tunnel

_log = logging.getLogger("sampan.http")

_READ_BYTES: Final = 65_536


async def send_parts(
    answer: StreamedAnswer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, idle_timeout_s: float
) -> None:
    """Send an answer as it comes; returns too when the client has gone. Raises `ConnectionAbortedError` when the body
    has no end, and `TimeoutError`."""
    async with contextlib.aclosing(answer.parts), asyncio.TaskGroup() as tasks:
        sending = tasks.create_task(_send(answer, writer, idle_timeout_s), name="answer")
        watching = tasks.create_task(_until_gone(reader, sending), name="client")
        sending.add_done_callback(lambda _: watching.cancel())
    if not sending.cancelled() and not sending.result():
        raise ConnectionAbortedError("the answer has no end")


async def take_over(
    answer: Takeover, ahead: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, idle_timeout_s: float
) -> None:
    """Let another protocol have the connection. What it raises is logged. Raises `TimeoutError` when it is idle."""
    writer.write(head_of_takeover(answer))
    async with asyncio.timeout(idle_timeout_s) as idle:
        tunnel = Tunnel(reader, writer, ahead=ahead, idle=idle, idle_timeout_s=idle_timeout_s)
        try:
            await answer.serve(tunnel)
        except OSError:
            pass
        except Exception:
            _log.exception("a connection that was taken over has failed")


async def _send(answer: StreamedAnswer, writer: asyncio.StreamWriter, idle_timeout_s: float) -> bool:
    """Whether it was sent to its end. The client's absence is no failure."""
    writer.write(head_of_stream(answer))
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(idle_timeout_s) as idle:
            async for part in answer.parts:
                if part:
                    writer.write(b"%x\r\n%b\r\n" % (len(part), part))
                    await writer.drain()
                    idle.reschedule(loop.time() + idle_timeout_s)
            writer.write(b"0\r\n\r\n")
            await writer.drain()
    except OSError:
        return False
    except Exception:
        _log.exception("a streamed answer has failed")
        return False
    return True


async def _until_gone(reader: asyncio.StreamReader, sending: "asyncio.Task[bool]") -> None:
    """What a client says while it is answered is dropped: nothing is answered behind a stream."""
    with contextlib.suppress(OSError):
        while await reader.read(_READ_BYTES):
            pass
    sending.cancel()
