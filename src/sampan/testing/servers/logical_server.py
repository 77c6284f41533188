"""`LogicalServer`: an API server without sockets. Many of them run in one process, each with its own store.

    store = template().fork()          # the objects that every cluster has
    server = LogicalServer(store)
    await server.start()
    response = await server.api.handler(request)
    await server.stop()

Concurrency: `start` creates one task, which owns the tasks of the server. `stop` cancels it and waits for its end.
The tasks belong to the event loop of `start`.
"""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from sampan.app.cluster import run_cluster
from sampan.app.components import Component, running
from sampan.core.event_loop.offload import Offload
from sampan.core.event_loop.task_scope import TaskScope
from sampan.core.tokens.keys import SigningKey, make_signing_key
from sampan.registry.builtins import Builtins
from sampan.registry.cluster import Cluster
from sampan.registry.definition import ResourceDefinition
from sampan.schema.builtin import Definitions
from sampan.server.admission.settings import NODE_RESTRICTION, AdmissionSettings
from sampan.server.apiserver import ApiServer, ApiServerSettings
from sampan.server.authentication.authenticator import TokenUser
from sampan.server.authentication.bearer_token import BearerTokenAuthenticator
from sampan.server.authentication.service_account.issuer import TokenIssuer
from sampan.server.authentication.service_account.tokens import ServiceAccountTokens
from sampan.server.authentication.token_service import TokenService
from sampan.server.authorization.authorizer import Authorizer
from sampan.server.authorization.modes import default_authorizers
from sampan.server.dashboard.settings import DashboardSettings
from sampan.server.post_start_hooks.kubernetes_service import KubernetesService
from sampan.server.request import UserInfo
from sampan.storage.memory import MemoryStore
from sampan.testing.checked_rights import note_authorization
from sampan.testing.randomness import seeded
from sampan.testing.time.virtual_time import run_virtual

ISSUER: Final = "https://kubernetes.default.svc.cluster.local"
PORT: Final = 6443


class Users:
    """Users of a server by their tokens. A test may add users at any time."""

    cacheable = False

    def __init__(self) -> None:
        self._users: dict[str, UserInfo] = {}

    def token_of(self, user: UserInfo) -> str:
        """Return the token of a user, which is the same for equal users."""
        for token, known in self._users.items():
            if known == user:
                return token
        token = f"test-user-{len(self._users)}"
        self._users[token] = user
        return token

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        """Return the user, or None if the token is unknown."""
        user = self._users.get(token)
        return None if user is None else TokenUser(user)


class _OnLoop(Offload):
    """Computes on the event loop, because threads do not run in virtual time."""

    async def run(self, size_bytes: int, function, *args):  # type: ignore[no-untyped-def]  # that of `Offload`
        return function(*args)


@dataclass(frozen=True)
class SharedParts:
    """Immutable parts that all servers of a process share: they are made once."""

    schemas: Definitions = field(default_factory=Definitions)
    key: SigningKey = field(default_factory=make_signing_key)
    builtins: Sequence[ResourceDefinition] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """Store of a cluster in which nothing has happened yet, and the shared parts."""

    store: MemoryStore
    parts: SharedParts


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Options and parts of a server that runs in the process of a test."""

    admission: AdmissionSettings = field(default_factory=lambda: AdmissionSettings(frozenset({NODE_RESTRICTION})))
    address: str = f"127.0.0.1:{PORT}"
    """Host and port that discovery returns."""
    bootstrapped: bool = True
    """False for an empty store: the bootstrap objects are created."""
    authorizers: tuple[Authorizer, ...] = ()
    """Authorizers before the usual ones."""
    dashboard: DashboardSettings | None = None
    """The web page at /dashboard/; None: there is none."""


class LogicalServer:
    """A server on a store. Starts once."""

    def __init__(
        self, store: MemoryStore, parts: SharedParts | None = None, settings: ServerSettings = ServerSettings()
    ) -> None:
        parts = parts or SharedParts()
        self.store = store
        self.settings = settings
        self.users = Users()
        self.cluster = Cluster(store, builtins=Builtins(parts.schemas, parts.builtins), offload=_OnLoop())
        tokens = ServiceAccountTokens(
            self.cluster.reader, [parts.key.verifying], issuers=(ISSUER,), api_audiences=(ISSUER,)
        )
        identity = TokenService([self.users, tokens], (ISSUER,), TokenIssuer(ISSUER, parts.key))
        self.api = ApiServer(
            self.cluster,
            [BearerTokenAuthenticator(identity.tokens)],
            [*settings.authorizers, *default_authorizers(self.cluster.reader)],
            settings=ApiServerSettings(
                identity=identity,
                admission=settings.admission,
                authorizations=note_authorization,
                dashboard=settings.dashboard,
            ),
            server_address=lambda: settings.address,
            hosts=lambda: ("127.0.0.1", "localhost"),
        )
        self._ready = asyncio.Event()
        self._tasks = TaskScope()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Return when the server serves. Raises the error of a part that failed."""
        self._task = self._tasks.begin(self._run(), "logical server")
        async with TaskScope() as tasks:
            waiting = tasks.begin(self._ready.wait(), "start of the server")
            await asyncio.wait({self._task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            await self._task
        await self.api.begin()

    def check(self) -> None:
        """Raise the error of a part that failed."""
        if self._task is not None and self._task.done() and not self._task.cancelled():
            error = self._task.exception()
            if error is not None:
                raise error

    async def stop(self) -> None:
        """End all tasks. Raises the error of a part that failed earlier."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error

    async def _run(self) -> None:
        api = self.api
        service = KubernetesService(self.cluster.endpoint, self.cluster.clock, port=PORT)

        async def run_stored() -> None:
            await run_cluster(
                self.cluster,
                service=service,
                started=self._ready.set,
                aggregator=api.aggregator,
                bootstrapped=self.settings.bootstrapped,
            )

        components = (
            Component("cluster", run_stored),
            Component("deadlines", api.deadlines.run),
            Component("upstreams", api.upstreams.run),
            *(() if api.dashboard is None else (Component("dashboard", api.dashboard.run),)),
            Component("flow control", api.flow_control.run, after=self._ready, restart=True),
        )
        async with running(components):
            await asyncio.get_running_loop().create_future()


@cache
def template(*, virtual: bool = True) -> Template:
    """Return the template of this process. Its objects are as old as the clock: virtual, or of the operating system.

    It is made in another thread, because an event loop may run in this one.
    """
    parts = SharedParts()
    parts = SharedParts(parts.schemas, parts.key, Builtins(parts.schemas).definitions)
    store = MemoryStore()

    async def fill() -> None:
        server = LogicalServer(store, parts, ServerSettings(bootstrapped=False))
        await server.start()
        await server.stop()

    run = run_virtual if virtual else asyncio.run
    thread = threading.Thread(target=lambda: run(fill()), name="template of clusters")
    with seeded("template"):
        thread.start()
        thread.join()
    return Template(store, parts)
