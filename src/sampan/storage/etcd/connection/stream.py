"""`WatchStream`: one watch of etcd on a separate stream.

A slow reader does not block other watches: gRPC's flow control pauses only its stream.
"""

import asyncio
from typing import Any

from grpc.aio import EOF

from sampan.core.event_loop.task_scope import TaskScope
from sampan.storage.etcd.connection.messages import WatchRequest


class WatchEndedByEtcd(Exception):
    """etcd ended the watch, for any reason except compaction. The watch can be opened again."""


class WatchedThroughProxy(WatchEndedByEtcd):
    """The endpoint is a proxy that merges watches and silently drops some of their events.

    `etcd grpc-proxy` (3.4 to 3.7) does so. It considers two watches of one range equal by a revision that may be ahead
    of their events. The events that the slower watch has not received are then lost.
    """

    def __init__(self) -> None:
        super().__init__(
            "the endpoint is not a member of etcd 3.4 or later, but a gRPC proxy (etcd grpc-proxy?), which may drop "
            "events of watches: set --etcd-servers to the members of etcd"
        )


class CompactedInEtcd(Exception):
    """etcd has compacted the start of the watch. `revision`: the compacted revision."""

    def __init__(self, revision: int) -> None:
        super().__init__(f"compacted up to {revision}")
        self.revision = revision


_ID = 1
"""Id requested for the watch of a stream. etcd uses it; a proxy that merges watches assigns another one."""


class WatchStream:
    """Watch of a range. A single task reads it."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self._tasks = TaskScope()
        self._reading: asyncio.Task[Any] | None = None

    async def begin(self, start: bytes, end: bytes, revision: int) -> None:
        """Watch [start, end) from `revision` on, with the row before each write. Returns when etcd has confirmed the
        watch.

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
        """Return the next response. The fragments of a large one are joined.

        Raises `AioRpcError`, `WatchEndedByEtcd`, `CompactedInEtcd`. Cancellation ends the stream.
        """
        response = self._checked(await self._call.read())
        while response.fragment:
            piece = self._checked(await self._call.read())
            response.events.extend(piece.events)
            response.fragment = piece.fragment
        return response

    async def next_within(self, timeout_s: float) -> Any:
        """Return the next response, or None after `timeout_s`; the next call then waits for the same response."""
        if self._reading is None:
            self._reading = self._tasks.begin(self.next())
            self._reading.add_done_callback(_retrieve_error)
        await asyncio.wait({self._reading}, timeout=timeout_s)
        if not self._reading.done():
            return None
        reading, self._reading = self._reading, None
        return reading.result()

    async def request_progress(self) -> None:
        """Request etcd's current revision, which it sends after all events up to it."""
        request = WatchRequest()
        request.progress_request.SetInParent()
        await self._call.write(request)

    def close(self) -> None:
        """End the watch. Idempotent."""
        self._call.cancel()
        self._tasks.cancel()

    def _checked(self, response: Any) -> Any:
        if response is EOF:
            raise WatchEndedByEtcd("the stream ended")
        if response.canceled:
            if response.compact_revision:
                raise CompactedInEtcd(response.compact_revision)
            raise WatchEndedByEtcd(response.cancel_reason)
        return response


def _retrieve_error(task: "asyncio.Task[Any]") -> None:
    """Retrieve the error of a response that no caller waits for any more, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()
