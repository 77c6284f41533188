"""`Cluster`: a cluster for one test, in this process: its own store, rights and clock. Nothing listens on a port.

    async def test_boats_get_a_crew(cluster: Cluster) -> None:
        await cluster.crds(Boat)
        cluster.run(set_up_operator)
        await cluster.apply(Boat(metadata=ObjectMeta(name="ada")))
        await cluster.eventually("boats/ada", has_condition("Ready"))

Concurrency: the cluster starts with its first request, in the running event loop, and ends with `aclose`. It owns the
tasks of its server, its built-in loops and of what `run` started. If a task of `run` fails, the test fails.
"""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any, Final, Self, TypeVar, overload

from sampan.client import Client
from sampan.core.clock import unix_time, utc_now
from sampan.core.event_loop.task_scope import TaskScope
from sampan.core.time import SystemClock
from sampan.operator.manager import Manager, ManagerOptions
from sampan.resource import Object, ResourceInfo
from sampan.server.request import UserInfo
from sampan.testing.awaited import awaited
from sampan.testing.blocking import Blocking
from sampan.testing.cluster_options import ClusterOptions, State, admission_of
from sampan.testing.control_loops.set_up import quiet_informers, set_up_loops
from sampan.testing.control_loops.sets import LOOPS, chosen_loops, loops_needed
from sampan.testing.expectations import Expectations
from sampan.testing.generated.build import build_object
from sampan.testing.journal import Journal, Write
from sampan.testing.observations.leaks import Leak, leaked_objects, stored
from sampan.testing.observations.settling import not_settled
from sampan.testing.operators.kopf_operator import KopfOperator, run_kopf
from sampan.testing.operators.lost_errors import note_lost_errors
from sampan.testing.operators.requests import OperatorRequests
from sampan.testing.operators.running import Running, run_operator
from sampan.testing.pods import Pods
from sampan.testing.requests import Gate, Interceptor, Requests
from sampan.testing.rights.role_files import USER as UNDER_TEST
from sampan.testing.servers.cluster_transport import ClusterTransport
from sampan.testing.servers.logical_server import LogicalServer, ServerSettings, template
from sampan.testing.servers.serve import Served, serve
from sampan.testing.time.virtual_time import VirtualTimeLoop, virtualized

T = TypeVar("T")

ADMIN: Final = UserInfo("kubernetes-admin", groups=("system:masters",))
TEST: Final = "test"
"""Actor of the requests of the test itself."""
_SETTLE_MAX_S: Final = 60.0
_ENDED: Final = "the cluster has ended, with the test function or with its last asynchronous fixture"


class NotSettled(AssertionError):
    """The cluster does not become idle. The message names the busiest clients."""


class NeedsVirtualTime(RuntimeError):
    """The test moves the clock, but runs in real time."""


class NeedsRealTime(RuntimeError):
    """The test serves programs, but runs in virtual time."""


class Cluster(Expectations, OperatorRequests):
    """Cluster for one test, in this process. `state` is the first state; None: a new cluster."""

    def __init__(self, options: ClusterOptions = ClusterOptions(), state: State | None = None) -> None:
        super().__init__()
        self.options = options
        self.clock = SystemClock()
        """Clock of the cluster: that of its event loop."""
        self.journal = Journal()
        """All writes to the store."""
        self._loops = chosen_loops(options.loops)
        self._admission = admission_of(options.admission, self._loops)
        self.pods = Pods()
        """Behaviour of new Pods on the simulated nodes."""
        self._gate = Gate(unix_time, rewrite=self.pods.rewrite)
        self._state = state
        self._server: LogicalServer | None = None
        self._starting: asyncio.Lock | None = None
        self._tasks = TaskScope()
        self._background: list[asyncio.Task[None]] = []
        self._running: list[Running] = []
        self._started_lazily: set[str] = set()
        self._transports: list[ClusterTransport] = []
        self._clients: dict[tuple[str, ...], Client] = {}
        self._exit = ExitStack()
        self._blocking: Blocking | None = None
        self._ended = False

    async def __aenter__(self) -> Self:
        await self.begin()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def blocking(self) -> Blocking:
        """The cluster for a plain test: the same methods without `await`, in an event loop that stops between calls."""
        if self._blocking is None:
            self._blocking = Blocking(self)
        return self._blocking

    def close_blocking(self) -> None:
        """End the cluster of a plain test. Raises the error of an operator that has failed."""
        if self._blocking is not None:
            self._blocking.close()

    # Clients

    def admin(self) -> Client:
        """Return the client of the test, which has all rights."""
        return self.client()

    def client(
        self, user: str = "", *, groups: Sequence[str] = (), actor: str = TEST, namespace: str = "default"
    ) -> Client:
        """Return a client of any user; without a user, one with all rights. RBAC decides as in production.

        `actor` is the name of the client in `requests`.
        """
        who = UserInfo(user, groups=tuple(groups)) if user else ADMIN
        key = (who.name, *groups, "", actor, namespace)
        if key not in self._clients:
            transport = ClusterTransport(self.server, self._gate, who, actor)
            self._transports.append(transport)
            self._clients[key] = Client(transport, namespace=namespace, field_manager=actor)
        return self._clients[key]

    @property
    def requests(self) -> Requests:
        """All requests so far."""
        return self._gate.requests

    @property
    def interceptors(self) -> list[Interceptor]:
        """Functions that each request passes, outermost first; see `requests.py`."""
        return self._gate.interceptors

    # Objects

    @overload
    def build(self, kind: type[T], name: str = "", **fields: Any) -> T: ...

    @overload
    def build(self, kind: str | ResourceInfo, name: str = "", **fields: Any) -> Object: ...

    def build(self, kind: Any, name: str = "", **fields: Any) -> Any:
        """Return the smallest valid object of a kind, with these fields set: `build("Deployment", spec={...})`.

        The object is not created. For a kind of a CRD, call `crds` first; see `build_object`.
        """
        known = self._server.cluster.registry.definitions() if self._server is not None else ()
        return build_object(kind, name, definitions=known, **fields)

    # Operators

    def run(
        self,
        operator: Any,
        *,
        name: str = "operator",
        user: str = "",
        groups: Sequence[str] = (),
        options: ManagerOptions | None = None,
    ) -> Running:
        """Run an operator until the end of the test. If the operator fails, the test fails; see `operator_failures.py`.

        `operator` is a `Manager`, a function that adds controllers to the manager that it gets, an asynchronous
        function without arguments, or a `kopf_operator`. `name` is its actor in `requests`; `user` is its user, with
        the rights of RBAC. `options` are those of the manager that a function gets. Raises `NeedsRealTime`.
        """
        if self.options.roles and not user:
            user = f"{UNDER_TEST}{name}"
        if isinstance(operator, KopfOperator):
            self._check_serves("an operator of kopf")
            running = run_kopf(operator, partial(self.serve, user, groups=groups, actor=name), name)
        else:
            running = run_operator(operator, self.client(user, groups=groups, actor=name), name, options)
        allowed, faulty = self.options.allow_errors, lambda: bool(self.interceptors)
        deleted = lambda *place: self.journal.has_deleted(*place)  # noqa: E731  (the journal changes)
        running.failures.excuse(allowed, faults_injected=faulty, deleted=deleted)
        self._running.append(running)
        return running

    @property
    def has_operators(self) -> bool:
        """True if `run` has started an operator."""
        return bool(self._running)

    def check(self) -> None:
        """Raise the error of an operator, of a built-in loop or of the server that has failed."""
        if self._server is not None:
            self._server.check()
        for task in self._background:
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                raise error
        for running in self._running:
            running.check()

    def check_operators(self) -> None:
        """Check all parts. Raises `OperatorFailed` if a reconcile of an operator raised, unless that is allowed.

        An operator with the roles of the options must have all rights that it needs.
        """
        self.check()
        for running in self._running:
            running.failures.check(running.name)
        if self.options.roles:
            self.check_rights()

    async def check_leaks(self) -> None:
        """Check that the operators left no orphans and no stuck deletions. Raises `Leak`."""
        if self._server is None or not self._running:
            return
        with suppress(NotSettled):
            await self.settled()
        allowed = self.options.leaks
        leaks = [each for each in leaked_objects(await stored(self._server.store)) if not each.startswith(allowed)]
        if leaks:
            hint = "allow one by its name: @pytest.mark.cluster(leaks=('configmaps/box',))"
            raise Leak("\n".join(["the test left behind:", *(f"  {each}" for each in leaks), hint]))

    # Time

    def now(self) -> dt.datetime:
        """Return the time of the cluster."""
        return utc_now()

    @awaited
    async def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        """Advance the virtual clock. Everything that is due until then happens.

        Raises `NeedsVirtualTime`, and the error of an operator.
        """
        await self.begin()
        loop = self._virtual_loop("advance")
        await asyncio.sleep(dt.timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds).total_seconds())
        await loop.idle()
        self.check_operators()

    @awaited
    async def advance_to(self, instant: dt.datetime | str) -> None:
        """Advance the virtual clock to an instant (`2030-01-02T00:00:00Z`). Raises `ValueError` for a past one."""
        await self.begin()
        target = dt.datetime.fromisoformat(instant) if isinstance(instant, str) else instant
        left = (target - utc_now()).total_seconds()
        if left < 0:
            raise ValueError(f"{target.isoformat()} is past: it is {utc_now().isoformat()}")
        await self.advance(seconds=left)

    @awaited
    async def settled(self, *, pause: float = 0.9, within: float = _SETTLE_MAX_S) -> None:
        """Wait until nothing can run for `pause` seconds: no request, no reconcile, no short timer.

        Renewals of leases do not count. Raises `NotSettled` with the busiest clients if that does not begin within
        `within` seconds, or after 10 s of endless work: 100 reconciles or writes of one object a second, without
        progress. Raises the error of an operator, too.
        """
        await self.begin()
        if message := await not_settled(self.journal, self.requests, self._running, pause_s=pause, within_s=within):
            raise NotSettled(message)
        self.check_operators()

    # States

    @awaited
    async def fork(self) -> State:
        """Return a copy of the current state. The cluster continues."""
        return State((await self.server()).store.fork(), unix_time())

    @awaited
    async def restore(self, state: State) -> None:
        """Restore an earlier state and its time. Operators end; run them again. Built-in loops start again."""
        await self._stop()
        self.journal = Journal()
        self._state, self._started_lazily = state, set()
        loop = asyncio.get_running_loop()
        if isinstance(loop, VirtualTimeLoop):
            loop.set_unix_time(state.at_s)
        await self.server()

    @asynccontextmanager
    async def serve(
        self, user: str = "", *, groups: Sequence[str] = (), actor: str = "program"
    ) -> AsyncIterator[Served]:
        """Serve on a free port of 127.0.0.1 in the block, for programs in any language; see `serve.py`.

        The kubeconfig has the rights of `user`; without a user, all rights. `actor` is the name of the programs in
        `requests`. Raises `NeedsRealTime`.
        """
        self._check_serves("a program")
        who = UserInfo(user, groups=tuple(groups)) if user else ADMIN
        async with serve(await self.server(), who, partial(self._gate.recorded, actor)) as served:
            yield served

    def _check_serves(self, what: str) -> None:
        if self.options.virtual:
            raise NeedsRealTime(
                f"{what} has connections and timers of real time, but this test runs in virtual time: "
                "mark it with @pytest.mark.cluster(time='real')"
            )

    # Life

    async def begin(self) -> None:
        """Start the cluster, if it has not started."""
        await self.server()

    async def server(self) -> LogicalServer:
        """Return the running server; start it on the first call."""
        if self._server is None:
            if self._ended:
                raise RuntimeError(_ENDED)
            self._starting = self._starting or asyncio.Lock()
            async with self._starting:
                if self._server is None:
                    self._server = await self._start()
        return self._server

    async def aclose(self) -> None:
        """End the cluster. Raises the error of an operator that has failed."""
        self._ended = True
        await self._stop()
        for transport in self._transports:
            await transport.aclose()
        self._exit.close()
        self.check_operators()

    async def _start(self) -> LogicalServer:
        loop = asyncio.get_running_loop()
        if self.options.virtual:
            self._exit.enter_context(virtualized(loop, self.options.start))
        made = template(virtual=self.options.virtual)
        store = (made.store if self._state is None else self._state.store).fork()
        settings = ServerSettings(self._admission, authorizers=self.options.authorizers())
        server = LogicalServer(store, made.parts, settings)
        await server.start()
        self._exit.enter_context(note_lost_errors(self._running))
        self._spawn(self.journal.run(store), "journal")
        if self._loops.lazy:
            self.journal.listen(self._start_lazily)
        self._server = server
        if self._state is not None:
            # The objects may need the lazy loops already.
            self._start_loops(*self._loops.lazy)
        if self._loops.eager:
            self._run_loops(LOOPS, self._loops.eager)
        return server

    async def _stop(self) -> None:
        for running in self._running:
            await running.stop()
        await self._tasks.aclose()
        self._background.clear()
        server, self._server = self._server, None
        for transport in self._transports:
            await transport.reset()
        if server is not None:
            await server.stop()

    def _spawn(self, work: Any, name: str) -> None:
        self._background.append(self._tasks.begin(work, name))

    def _start_lazily(self, write: Write) -> None:
        self._start_loops(*loops_needed(write.key, write.event.value or b""))

    def _start_loops(self, *names: str) -> None:
        for name in names:
            if name in self._loops.lazy and name not in self._started_lazily:
                self._started_lazily.add(name)
                self._run_loops(name, (name,))

    def _run_loops(self, actor: str, names: tuple[str, ...]) -> None:
        options = ManagerOptions(graceful_shutdown_timeout_s=0.0, informer_settings=quiet_informers())
        manager = Manager(self.client(actor=actor), options)
        set_up_loops(manager, names, self.options.nodes)
        self._spawn(manager.run(), actor)

    def _hint(self, resource: str) -> str:
        return self._loops.hint(resource)

    def _virtual_loop(self, method: str) -> VirtualTimeLoop:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, VirtualTimeLoop):
            raise NeedsVirtualTime(
                f"{method} moves the clock, but this test runs in real time: remove time='real' from its mark"
            )
        return loop
