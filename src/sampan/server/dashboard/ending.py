"""`end_with`: responses without an end that end with the session of their request."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from sampan.http.tunnel import Tunnel
from sampan.server.request import BrowserSession, Response

_Takeover = Callable[[Tunnel], Awaitable[None]]


def end_with(session: BrowserSession, response: Response) -> None:
    """Cut the response when the session ends, if it is an upgrade or a stream without an end."""
    if response.takeover is not None:
        response.takeover = _held(session, response.takeover)
    elif response.stream is not None and not response.finite:
        response.stream = _HeldStream(session, response.stream)


def _held(session: BrowserSession, takeover: _Takeover) -> _Takeover:
    async def held(tunnel: Tunnel) -> None:
        release = session.hold(_cancel_this())
        try:
            await takeover(tunnel)
        finally:
            release()

    return held


class _HeldStream:
    """Stream whose reader is cancelled when the session ends."""

    def __init__(self, session: BrowserSession, stream: AsyncIterator[bytes]) -> None:
        self._session = session
        self._stream = stream
        self._release: Callable[[], None] | None = None

    def __aiter__(self) -> "_HeldStream":
        return self

    async def __anext__(self) -> bytes:
        if self._release is None:
            self._release = self._session.hold(_cancel_this())
        return await anext(self._stream)

    async def aclose(self) -> None:
        """Close the stream, which the session no longer ends."""
        if self._release is not None:
            self._release()
        aclose: Callable[[], Awaitable[None]] | None = getattr(self._stream, "aclose", None)
        if aclose is not None:
            await aclose()


def _cancel_this() -> Callable[[], object]:
    task = asyncio.current_task()
    assert task is not None
    return task.cancel
