"""Blocking client for scripts: the names of `Client`, without `await`.

    with BlockingClient.connect() as client:
        networks = client.resource(Network)
        networks.create(Network(metadata=ObjectMeta(name="net"), spec=NetworkSpec("10.0.0.0/24")))
        networks.wait_for("net", condition_is("Ready"), timeout_s=30)
        for event in networks.follow():
            print(event.type, event.object.metadata.name)

An event loop runs in a background thread (`LoopThread`). Any thread may call the client. Ctrl-C cancels the call in
progress. An iterator that is left early should be closed (`contextlib.closing`), or is closed by garbage collection.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar, overload

from sampan.client.blocking.loop_thread import LoopThread
from sampan.client.blocking.resource_client import BlockingResourceClient
from sampan.client.client import Client
from sampan.client.config import Config
from sampan.client.connect import connect
from sampan.client.discovery.rest_mapper import ResourceName
from sampan.client.errors import Conflict
from sampan.client.rest_client import REQUEST_TIMEOUT_S
from sampan.client.retries.backoff import Backoff
from sampan.client.retries.on_conflict import CONFLICT_BACKOFF
from sampan.resource import Object, ObjectType, ResourceInfo

T = TypeVar("T")
R = TypeVar("R")


class BlockingClient:
    """Blocking form of `Client`, which runs in another thread. Usable inside its `with` block."""

    def __init__(self, make: Callable[[], Client]) -> None:
        self._make = make
        self._thread = LoopThread()

    @classmethod
    def connect(
        cls,
        path: str | Path | None = None,
        *,
        context: str = "",
        namespace: str = "",
        field_manager: str = "",
        request_timeout_s: float = REQUEST_TIMEOUT_S,
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """Return a client as `sampan.client.connect` does. The configuration is read when the block begins."""
        options = {"context": context, "namespace": namespace, "field_manager": field_manager}
        return cls(lambda: connect(path, environ=environ, request_timeout_s=request_timeout_s, **options))

    @classmethod
    def from_config(
        cls, config: Config, *, field_manager: str = "", request_timeout_s: float = REQUEST_TIMEOUT_S
    ) -> Self:
        """Return a client as `Client.from_config` does."""

        def make() -> Client:
            return Client.from_config(config, field_manager=field_manager, request_timeout_s=request_timeout_s)

        return cls(make)

    def __enter__(self) -> Self:
        async def make() -> Client:
            return self._make()

        self._thread.__enter__()
        try:
            self.asynchronous = self.run(make())
            """Asynchronous client behind this one. Its coroutines must run through `run`."""
        except BaseException:
            self._thread.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.run(self.asynchronous.aclose())
        finally:
            self._thread.__exit__()

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine in the client's thread: `client.run(wait_for(pods.asynchronous, …))`."""
        return self._thread.run(coroutine)

    @overload
    def resource(self, what: ResourceInfo, *, namespace: str | None = None) -> BlockingResourceClient[Object]: ...

    @overload
    def resource(self, what: ObjectType[T], *, namespace: str | None = None) -> BlockingResourceClient[T]: ...

    @overload
    def resource(self, what: type[T], *, namespace: str | None = None) -> BlockingResourceClient[T]: ...

    def resource(
        self, what: ResourceInfo | ObjectType[T] | type[T], *, namespace: str | None = None
    ) -> BlockingResourceClient[Object] | BlockingResourceClient[T]:
        """Return the client of a resource. See `Client.resource`."""
        if isinstance(what, ResourceInfo):
            return BlockingResourceClient(self._thread, self.asynchronous.resource(what, namespace=namespace))
        if isinstance(what, ObjectType):
            return BlockingResourceClient(self._thread, self.asynchronous.resource(what, namespace=namespace))
        return BlockingResourceClient(self._thread, self.asynchronous.resource(what, namespace=namespace))

    def resource_for(self, what: ResourceName, *, namespace: str | None = None) -> BlockingResourceClient[Object]:
        """Return the client of a resource that discovery finds. See `Client.resource_for`."""
        found = self.run(self.asynchronous.resource_for(what, namespace=namespace))
        return BlockingResourceClient(self._thread, found)

    def retry_on_conflict(self, attempt: Callable[[], R], *, backoff: Backoff = CONFLICT_BACKOFF) -> R:
        """Call `attempt` again after each conflict, in the calling thread. See `sampan.client.retries.on_conflict`."""
        delays = backoff.delays()
        while True:
            try:
                return attempt()
            except Conflict:
                delay = next(delays, None)
                if delay is None:
                    raise
            self.run(asyncio.sleep(delay))
