"""`pipe`: copy bytes between a client and an upstream after an upgrade.

Concurrency: two tasks, one for each direction, in a group of the caller. Each waits for the side that it writes to, so
a slow reader slows the sender.

When either side ends, its last bytes are still delivered. Then both connections are closed, because TLS has no
half-closed connections. On cancellation (client disconnect, server shutdown) the last bytes of the client are
delivered, and the cancellation propagates.
"""

import asyncio
from collections.abc import Callable, Iterable

from sampan.http.tunnel import Tunnel

Cut = Callable[[bytes], Iterable[bytes]]


async def pipe(client: Tunnel, upstream: Tunnel, cut: Cut | None = None) -> None:
    """Copy bytes until either side ends, and close `upstream`.

    `cut` splits the bytes for the client into pieces, each of which becomes a TLS record. None: no split.
    """
    cut = cut or _whole
    try:
        _write(client, upstream.take(), cut)
        async with asyncio.TaskGroup() as group:
            ways = [
                group.create_task(_copy(client, upstream, _whole)),
                group.create_task(_copy(upstream, client, cut)),
            ]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
    finally:
        upstream.send_last(client.take())


async def _copy(source: Tunnel, sink: Tunnel, cut: Cut) -> None:
    while data := await source.read():
        _write(sink, data, cut)
        try:
            await sink.drain()
        except ConnectionError:
            return


def _write(tunnel: Tunnel, data: bytes, cut: Cut) -> None:
    for piece in cut(data):
        tunnel.write(piece)


def _whole(data: bytes) -> Iterable[bytes]:
    return (data,) if data else ()
