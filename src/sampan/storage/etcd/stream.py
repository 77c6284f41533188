"""`WatchStream`: one watch of etcd on a stream of its own. Whoever takes slowly holds up nobody else: gRPC's flow
control pauses the stream."""

import asyncio
from typing import Any

from grpc.aio import EOF

from sampan.storage.etcd.messages import WatchRequest


class WatchEndedByEtcd(Exception):
    """etcd ended the watch, for any reason but compaction; it may be begun anew."""


class WatchedThroughProxy(WatchEndedByEtcd):
    """What answers is no member of etcd, but passes watches on and leaves out events of them without a word.

    So does `etcd grpc-proxy` (3.4 to 3.7): it takes two watches of one range for equally far by a number that may be
    ahead of their events, and what the one behind has not been sent yet is lost.
    """

    def __init__(self) -> None:
        super().__init__(
            "what answers is no etcd from 3.4 on itself, but a proxy that understands gRPC (etcd grpc-proxy?); "
            "it may leave out events of watches: --etcd-servers names etcd's own members"
        )


class CompactedInEtcd(Exception):
    """etcd has forgotten where the watch was to begin. `revision`: how far it has forgotten."""

    def __init__(self, revision: int) -> None:
        super().__init__(f"compacted up to {revision}")
        self.revision = revision


_ID = 1
"""The number that the watch of a stream is to have. etcd gives it that; who makes one watch of many gives its own."""


class WatchStream:
    """See the module. Taken from by one task."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self._reading: asyncio.Task[Any] | None = None

    async def begin(self, start: bytes, end: bytes, revision: int) -> None:
        """Watch [start, end) from `revision` on, with what was before each write; returns when etcd does so.

        Raises what `next` raises, and `WatchedThroughProxy`.
        """
        request = WatchRequest()
        create = request.create_request
        create.key, create.range_end, create.start_revision = start, end, revision
        create.prev_kv = create.fragment = True
        create.watch_id = _ID
        await self._call.write(request)
        if (await self.next()).watch_id != _ID:
            raise WatchedThroughProxy

    async def next(self) -> Any:
        """The next response, whole: the pieces of one that etcd sent in pieces are put together.

        Raises `AioRpcError`, `WatchEndedByEtcd`, `CompactedInEtcd`. Being cancelled ends the stream.
        """
        response = self._checked(await self._call.read())
        while response.fragment:
            piece = self._checked(await self._call.read())
            response.events.extend(piece.events)
            response.fragment = piece.fragment
        return response

    async def next_within(self, timeout_s: float) -> Any:
        """The next response, or None after `timeout_s`: then the same response is waited for by the next call."""
        if self._reading is None:
            self._reading = asyncio.create_task(self.next())
            self._reading.add_done_callback(_looked_at)
        await asyncio.wait({self._reading}, timeout=timeout_s)
        if not self._reading.done():
            return None
        reading, self._reading = self._reading, None
        return reading.result()

    async def request_progress(self) -> None:
        """Ask etcd to say how far it is, once it has sent everything up to there."""
        request = WatchRequest()
        request.progress_request.SetInParent()
        await self._call.write(request)

    def close(self) -> None:
        """End the watch. Idempotent."""
        self._call.cancel()
        if self._reading is not None:
            self._reading.cancel()

    def _checked(self, response: Any) -> Any:
        if response is EOF:
            raise WatchEndedByEtcd("the stream ended")
        if response.canceled:
            if response.compact_revision:
                raise CompactedInEtcd(response.compact_revision)
            raise WatchEndedByEtcd(response.cancel_reason)
        return response


def _looked_at(task: "asyncio.Task[Any]") -> None:
    """A response that failed after the last call of `next_within` concerns nobody."""
    if not task.cancelled():
        task.exception()
