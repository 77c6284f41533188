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
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Self, TypeVar, overload

from sampan.client import Client, ResourceClient
from sampan.client.options import Propagation
from sampan.client.patch import Patch
from sampan.core.clock import unix_time, utc_now
from sampan.core.time import SystemClock
from sampan.operator.manager import ManagerOptions
from sampan.resource import Object, ResourceInfo
from sampan.server.request import UserInfo
from sampan.testing.awaited import Calls, awaited
from sampan.testing.blocking import Blocking
from sampan.testing.cluster_operators import ClusterOperators
from sampan.testing.cluster_options import ClusterOptions, State
from sampan.testing.cluster_server import ClusterServer
from sampan.testing.expectations import DURING_S, WITHIN_S, Expectations, Expected
from sampan.testing.generated.build import build_object
from sampan.testing.journal import Journal
from sampan.testing.object_verbs import Kind, ObjectVerbs
from sampan.testing.observations.leaks import Leak, leaked_objects, stored
from sampan.testing.observations.settling import not_settled
from sampan.testing.operators.kopf_operator import KopfOperator, run_kopf
from sampan.testing.operators.running import ReconcileRecord, Running, run_operator
from sampan.testing.pods import Pods
from sampan.testing.requests import Interceptor, InterceptorChain, Requests
from sampan.testing.rights.privileges import Privileges
from sampan.testing.rights.role_files import USER as UNDER_TEST
from sampan.testing.servers.cluster_transport import ClusterTransport
from sampan.testing.servers.logical_server import LogicalServer
from sampan.testing.servers.serve import Served, serve
from sampan.testing.time.virtual_time import VirtualTimeLoop

T = TypeVar("T")

ADMIN: Final = UserInfo("kubernetes-admin", groups=("system:masters",))
TEST: Final = "test"
"""Actor of the requests of the test itself."""
_SETTLE_MAX_S: Final = 60.0


class NotSettled(AssertionError):
    """The cluster does not become idle. The message names the busiest clients."""


class NeedsVirtualTime(RuntimeError):
    """The test moves the clock, but runs in real time."""


class NeedsRealTime(RuntimeError):
    """The test serves programs, but runs in virtual time."""


class Cluster:
    """Cluster for one test, in this process. `state` is the first state; None: a new cluster."""

    def __init__(self, options: ClusterOptions = ClusterOptions(), state: State | None = None) -> None:
        self.options = options
        self.clock = SystemClock()
        """Clock of the cluster: that of its event loop."""
        self.pods = Pods()
        """Behaviour of new Pods on the simulated nodes."""
        self._calls = Calls()
        self._gate = InterceptorChain(unix_time, rewrite=self.pods.rewrite)
        self._transports: list[ClusterTransport] = []
        self._clients: dict[tuple[str, ...], Client] = {}
        self._running: list[Running] = []
        self._operators = ClusterOperators(self._running, self._gate)
        self._server = ClusterServer(options, state, self._client_of_loop, self._running)
        self._verbs = ObjectVerbs(self.admin)
        self._expectations = Expectations(self, self._verbs, self._operators, self._hint)
        self._blocking: Blocking | None = None

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

    def _client_of_loop(self, name: str) -> Client:
        return self.client(actor=name)

    @property
    def requests(self) -> Requests:
        """All requests so far."""
        return self._gate.requests

    @property
    def interceptors(self) -> list[Interceptor]:
        """Functions that each request passes, outermost first; see `requests.py`."""
        return self._gate.interceptors

    @property
    def not_awaited(self) -> list[str]:
        """Calls of methods that have not begun, with their places."""
        return self._calls.not_awaited

    @property
    def journal(self) -> Journal:
        """All writes to the store."""
        return self._server.journal

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
        """Run an operator until the end of the test. If the operator fails, the test fails; see `ClusterOptions`.

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
        self._server.check()
        self._operators.check()

    def check_operators(self) -> None:
        """Check all parts. Raises `OperatorFailed` if a reconcile of an operator raised, unless that is allowed.

        An operator with the roles of the options must have all rights that it needs.
        """
        self.check()
        self._operators.check_reconciles()
        if self.options.roles:
            self.check_rights()

    async def check_leaks(self) -> None:
        """Check that the operators left no orphans and no stuck deletions. Raises `Leak`."""
        if self._server.running is None or not self.has_operators:
            return
        with suppress(NotSettled):
            await self.settled()
        allowed, store = self.options.leaks, (await self.server()).store
        leaks = [each for each in leaked_objects(await stored(store)) if not each.startswith(allowed)]
        if leaks:
            hint = "allow one by its name: @pytest.mark.cluster(leaks=('configmaps/box',))"
            raise Leak("\n".join(["the test left behind:", *(f"  {each}" for each in leaks), hint]))

    @property
    def operators(self) -> list[str]:
        """Names of the operators that `run` has started."""
        return self._operators.names

    def privileges(self, actor: str = "operator") -> Privileges:
        """Return the rights that an actor used and those that were denied; `role` makes a ClusterRole of them."""
        return self._operators.privileges(actor)

    def check_rights(self) -> None:
        """Raise `OperatorFailed` if an operator lacked a right."""
        self._operators.check_rights()

    def warnings(self) -> list[str]:
        """Return the requests of operators to which the server responded with a warning, each once, as text."""
        return self._operators.warnings()

    @property
    def reconciles(self) -> list[ReconcileRecord]:
        """Reconciles of all operators, oldest first."""
        return self._operators.reconciles

    # Objects

    @awaited
    async def crds(self, *sources: str | Path | type[Any] | Mapping[str, Any]) -> None:
        """Create CustomResourceDefinitions from files, folders, dicts or declared classes, and serve them.

        Other objects in a file are left out. Raises `ManifestError` for a source without a definition.
        Raises `Invalid` for a schema with errors: it names the field path, and the line of the file in a note.
        """
        await self._verbs.crds(*sources)

    @awaited
    async def apply(self, what: Any, *, field_manager: str = "test", force: bool = True) -> Sequence[Object]:
        """Create or change objects with server-side apply, and return them.

        `what` is YAML text, a path, a dict, a declared object, or several of these.
        """
        return await self._verbs.apply(what, field_manager=field_manager, force=force)

    @awaited
    async def create(self, what: Any) -> Sequence[Object]:
        """Create objects and return them. Raises `AlreadyExists`, `Invalid`."""
        return await self._verbs.create(what)

    @overload
    async def get(self, kind: type[T], name: str, *, namespace: str | None = None) -> T: ...

    @overload
    async def get(self, kind: str | ResourceInfo, name: str = "", *, namespace: str | None = None) -> Object: ...

    @awaited
    async def get(self, kind: Any, name: str = "", *, namespace: str | None = None) -> Any:
        """Return an object: `get("deploy/web")`, `get("deploy", "web")` or `get(Boat, "b")`. Raises `NotFound`."""
        return await self._verbs.get(kind, name, namespace=namespace)

    @awaited
    async def find(self, kind: Kind, name: str = "", *, namespace: str | None = None) -> Any:
        """Return an object as `get` does, or None if it does not exist."""
        return await self._verbs.find(kind, name, namespace=namespace)

    @overload
    async def list(self, kind: type[T], *, namespace: str | None = None, selector: str = "") -> Sequence[T]: ...

    @overload
    async def list(
        self, kind: str | ResourceInfo, *, namespace: str | None = None, selector: str = ""
    ) -> Sequence[Object]: ...

    @awaited
    async def list(self, kind: Any, *, namespace: str | None = None, selector: str = "") -> Any:
        """Return the objects of a kind, in the namespace or (with "") in all. `selector` selects by labels."""
        return await self._verbs.list(kind, namespace=namespace, selector=selector)

    @awaited
    async def delete(self, *names: Any, namespace: str | None = None, propagation: Propagation | None = None) -> None:
        """Request the deletion of objects: `"deploy/web"`, or objects that were read. Raises `NotFound`."""
        await self._verbs.delete(*names, namespace=namespace, propagation=propagation)

    @awaited
    async def patch(
        self, kind: Kind, change: Patch | Mapping[str, Any], *, namespace: str | None = None, subresource: str = ""
    ) -> Object:
        """Change an object (`"deploy/web"`). A dict is a strategic merge patch; a merge patch for custom resources."""
        return await self._verbs.patch(kind, change, namespace=namespace, subresource=subresource)

    async def resource(self, kind: Kind, namespace: str | None = None) -> ResourceClient[Any]:
        """Return the client of a kind. Raises `NoMatch` for an unknown one."""
        return await self._verbs.resource(kind, namespace)

    @overload
    def build(self, kind: type[T], name: str = "", **fields: Any) -> T: ...

    @overload
    def build(self, kind: str | ResourceInfo, name: str = "", **fields: Any) -> Object: ...

    def build(self, kind: Any, name: str = "", **fields: Any) -> Any:
        """Return the smallest valid object of a kind, with these fields set: `build("Deployment", spec={...})`.

        The object is not created. For a kind of a CRD, call `crds` first; see `build_object`.
        """
        server = self._server.running
        known = server.cluster.registry.definitions() if server is not None else ()
        return build_object(kind, name, definitions=known, **fields)

    # Expectations

    @awaited
    async def eventually(
        self,
        what: str | Callable[[], Any],
        expected: Expected | None = None,
        *,
        within: float = WITHIN_S,
        namespace: str | None = None,
    ) -> Any:
        """Wait until an object (`"deploy/web"`) meets a predicate, or until a function returns a true value.

        Return the object or the value. Raises `NotMet`, and the error of an operator that fails meanwhile.
        """
        return await self._expectations.eventually(what, expected, within=within, namespace=namespace)

    @awaited
    async def consistently(
        self,
        what: str | Callable[[], Any],
        expected: Expected | None = None,
        *,
        during: float = DURING_S,
        namespace: str | None = None,
    ) -> None:
        """Check that a predicate holds in each state during this time.

        Raises `NotMet` at the first state that differs.
        """
        await self._expectations.consistently(what, expected, during=during, namespace=namespace)

    @awaited
    async def never(
        self,
        what: str | Callable[[], Any],
        expected: Expected | None = None,
        *,
        during: float = DURING_S,
        namespace: str | None = None,
    ) -> None:
        """Check that no state during this time meets a predicate. Raises `NotMet` at the first state that does."""
        await self._expectations.never(what, expected, during=during, namespace=namespace)

    @asynccontextmanager
    async def no_writes(self, *actors: str) -> AsyncIterator[None]:
        """Check that operators send no write during the block and until the cluster has settled.

        Without `actors`, all that `run` started are checked. Renewals of leases are allowed. Raises `NotMet`,
        `RuntimeError` if nothing runs that could write.
        """
        async with self._expectations.no_writes(*actors):
            yield

    @awaited
    async def assert_idempotent(self) -> None:
        """Restart all operators, with empty caches, and check that they change nothing.

        Raises `NotMet`, `RuntimeError` if no operator runs.
        """
        await self._expectations.assert_idempotent()

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
        self._server.restore(state)
        await self.server()

    @asynccontextmanager
    async def serve(
        self, user: str = "", *, groups: Sequence[str] = (), actor: str = "program"
    ) -> AsyncIterator[Served]:
        """Serve on a free port of 127.0.0.1 in the block, for programs in any language; see `servers/serve.py`.

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
        return await self._server.started()

    async def aclose(self) -> None:
        """End the cluster. Raises the error of an operator that has failed."""
        self._server.end()
        await self._stop()
        for transport in self._transports:
            await transport.aclose()
        self._server.close()
        self.check_operators()

    async def _stop(self) -> None:
        await self._operators.stop()
        await self._server.stop(self._transports)

    def _hint(self, resource: str) -> str:
        return self._server.hint(resource)

    def _virtual_loop(self, method: str) -> VirtualTimeLoop:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, VirtualTimeLoop):
            raise NeedsVirtualTime(
                f"{method} moves the clock, but this test runs in real time: remove time='real' from its mark"
            )
        return loop
