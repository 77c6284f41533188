"""`relay`: a port of this machine that leads to a port of a machine."""

import asyncio
import ctypes
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.machines.machine import Machine

_CLONE_NEWNET = 0x40000000
_CHUNK = 65536


@contextmanager
def relay(machine: Machine, address: str, port: int) -> Iterator[int]:
    """Relay connections to a free port of 127.0.0.1, which it returns.

    The listening socket belongs to this machine. The thread that relays has entered the network of the other one, so
    the connections that it opens are in that network.
    """
    listening = socket.create_server(("127.0.0.1", 0))
    loop = asyncio.new_event_loop()
    ends = asyncio.Event()

    def work() -> None:
        _enter(machine.pid)
        loop.run_until_complete(_serve(listening, address, port, ends))

    thread = threading.Thread(target=work, name="relay", daemon=True)
    thread.start()
    try:
        yield int(listening.getsockname()[1])
    finally:
        loop.call_soon_threadsafe(ends.set)
        thread.join(5)
        listening.close()


def _enter(pid: int) -> None:
    """Move the calling thread into the network namespace of a process."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path(f"/proc/{pid}/ns/net").open() as handle:
        if libc.setns(handle.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


async def _serve(listening: socket.socket, address: str, port: int, ends: asyncio.Event) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(address, port)
            await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
        except OSError:
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(connected, sock=listening) as server:
        await server.start_serving()
        await ends.wait()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy bytes until the end of the one side, and pass that end on."""
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
