"""A server in a thread with a separate loop, so that properties may send it one request after the other."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import pytest

from tests.server.cluster import Api, ApiResponse, served

RESPONSE_WITHIN_S = 20.0
T = TypeVar("T")


SETTLED_S = 0.5
"""The server's own watchers have begun when their number has not changed for so long."""


class Fuzzed:
    """Sends requests to a server that runs in another thread."""

    def __init__(self, api: Api, loop: asyncio.AbstractEventLoop) -> None:
        self.api = api
        self._loop = loop

    def run(self, calling: Coroutine[Any, Any, T]) -> T:
        """Run in the server's loop."""
        return asyncio.run_coroutine_threadsafe(calling, self._loop).result(RESPONSE_WITHIN_S)

    def fetch(self, method: str, target: str, body: Any = b"", content_type: str = "application/json") -> ApiResponse:
        """One request; a stream is given up at once."""
        return self.run(self._fetch(method, target, body, content_type))

    async def _fetch(self, method: str, target: str, body: Any, content_type: str) -> ApiResponse:
        response = await self.api.fetch(method, target, body, content_type=content_type)
        if response.response.stream is not None:
            await response.response.stream.aclose()  # type: ignore[attr-defined]  # every stream of ours is a generator
        if response.response.finished is not None:
            response.response.finished()
        return response

    def watchers(self) -> int:
        """Return the number of open watches."""
        return _watchers(self.api)


def _watchers(api: Api) -> int:
    return sum(cache.watchers for cache in api.cluster.caches.values())


@pytest.fixture(scope="module")
def fuzzed() -> Iterator[Fuzzed]:
    """One server for all properties of a module."""
    started = threading.Event()
    found: list[Fuzzed] = []
    stop = asyncio.Event()

    async def serve() -> None:
        async with served() as api:
            observed = 0
            while observed != _watchers(api):
                observed = _watchers(api)
                await asyncio.sleep(SETTLED_S)
            found.append(Fuzzed(api, asyncio.get_running_loop()))
            started.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert started.wait(RESPONSE_WITHIN_S)
    fuzzed = found[0]
    before = fuzzed.watchers()
    yield fuzzed
    assert fuzzed.watchers() == before
    fuzzed._loop.call_soon_threadsafe(stop.set)
    thread.join(RESPONSE_WITHIN_S)
    assert not thread.is_alive()
