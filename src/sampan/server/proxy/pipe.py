"""`pipe`: bytes between a client and an upstream after an upgrade.

Concurrency: two tasks, one for each direction, in a group of the caller's; each waits for the side that it writes to,
so what one side does not read the other cannot send. When either side ends, what it has sent is still delivered, then
both connections are closed: over TLS there is no half-closed connection. A cancellation (the client has gone, the
server ends) delivers what the client sent last, and passes.
"""

import asyncio
from collections.abc import Callable, Iterable

from sampan.server.proxy.wire import Wire
from sampan.server.tunnel import Tunnel

Cut = Callable[[bytes], Iterable[bytes]]


async def pipe(tunnel: Tunnel, wire: Wire, ahead: bytes, cut: Cut | None = None) -> None:
    """Copy bytes until either side ends, and close `wire`.

    `ahead`: bytes that the upstream sent after its head. `cut`: the pieces in which bytes are written to the client,
    each a TLS record; None: as they come.
    """
    cut = cut or _whole
    try:
        _write(tunnel, ahead, cut)
        async with asyncio.TaskGroup() as group:
            ways = [group.create_task(_up(tunnel, wire)), group.create_task(_down(tunnel, wire, cut))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
    finally:
        wire.send_last(tunnel.take())


async def _up(tunnel: Tunnel, wire: Wire) -> None:
    while data := await tunnel.read():
        try:
            await wire.write(data)
        except ConnectionError:
            return


async def _down(tunnel: Tunnel, wire: Wire, cut: Cut) -> None:
    while True:
        try:
            data = await wire.read()
        except ConnectionError:
            return
        if not data:
            return
        _write(tunnel, data, cut)
        await tunnel.drain()


def _write(tunnel: Tunnel, data: bytes, cut: Cut) -> None:
    for piece in cut(data):
        tunnel.write(piece)


def _whole(data: bytes) -> Iterable[bytes]:
    return (data,) if data else ()
