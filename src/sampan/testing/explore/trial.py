"""`run_trial`: one run of a scenario, with one fault or none.

Concurrency: each trial has a separate event loop, in virtual time. The fault acts in an interceptor of requests.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from sampan.client import TransportError
from sampan.client.transport import HttpResponse
from sampan.core.task_scope import TaskScope
from sampan.testing.cluster import ADMIN, TEST, Cluster
from sampan.testing.cluster_options import ClusterOptions
from sampan.testing.explore.outcome import Outcome, outcome_of
from sampan.testing.explore.plan import (
    CRASH_AFTER,
    CRASH_BEFORE,
    DOWN,
    HIDDEN,
    LOST,
    REFUSED,
    SLOW,
    STALE,
    Plan,
    WriteId,
)
from sampan.testing.explore.scenario import Scenario
from sampan.testing.in_process import InProcessTransport
from sampan.testing.logical_server import LogicalServer, ServerSettings, template
from sampan.testing.operators import Running
from sampan.testing.requests import Proceed, SentRequest
from sampan.testing.virtual_time import run_virtual

OPERATOR: Final = "operator"
STALE_S: Final = 5.0
"""Virtual seconds for which the restarted operator works with its old view."""
HIDDEN_S_MAX: Final = 30.0
"""Virtual seconds after which a state is shown, and an operator that is down starts again.

The scenario may wait for a reaction.
"""
SLOW_S: Final = 20.0
"""Virtual seconds by which a response is late: less than the client's limit of 30 s."""
TRIAL_S_MAX: Final = 6 * 3600.0
"""Virtual seconds of one run."""
_CALM_S: Final = 120.0
"""Virtual seconds at the end, for retries with a delay."""


def run_trial(scenario: Scenario, plan: Plan | None = None) -> Outcome:
    """Run a scenario and return what became of it. An error of the scenario or the operator is part of the outcome."""
    random.seed(0)
    return run_virtual(_run(scenario, plan))


async def _run(scenario: Scenario, plan: Plan | None) -> Outcome:
    cluster = Cluster(ClusterOptions(loops=scenario.loops))
    error = ""
    trial = Trial(cluster, plan)
    try:
        await cluster.crds(*scenario.crds)
        await cluster.settled()
        first = len(cluster.journal.writes)
        cluster.interceptors.append(trial.intercept)
        trial.running = cluster.run(scenario.operator, name=OPERATOR)
        try:
            async with asyncio.timeout(TRIAL_S_MAX):
                await cluster.settled()
                await scenario.steps(cluster)
                await cluster.settled()
                await trial.heal()
                await cluster.advance(seconds=_CALM_S)
                await cluster.settled()
        except TimeoutError:
            error = f"the scenario did not end within {TRIAL_S_MAX / 3600:.0f} h of virtual time"
        except Exception as failure:
            error = f"{type(failure).__name__}: {str(failure).splitlines()[0] if str(failure) else ''}"
        fired = plan is None or trial.fired
        return await outcome_of(cluster, first, trial.writes, error, fired=fired, checks=scenario.checks)
    finally:
        await trial.aclose()
        with suppress(Exception):
            await cluster.aclose()


@dataclass(slots=True)
class Trial:
    """Fault of one run. `writes` records the writes that succeeded, in their order."""

    cluster: Cluster
    plan: Plan | None
    running: Running | None = None
    fired: bool = False
    writes: list[WriteId] = field(default_factory=list)
    _counts: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _dead: bool = False
    _down: bool = False
    """True from a crash until the restart, for the fault `down`."""
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)
    _stale: LogicalServer | None = None
    _stale_view: InProcessTransport | None = None
    _shown: asyncio.Event = field(default_factory=asyncio.Event)
    _caught_up: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: TaskScope = field(default_factory=TaskScope)

    def __post_init__(self) -> None:
        self._shown.set()
        self._caught_up.set()

    async def intercept(self, sent: SentRequest, proceed: Proceed) -> HttpResponse:
        """See `Interceptor`."""
        if sent.actor == OPERATOR and self._dead:
            raise TransportError("the operator has crashed", sent=False)
        if sent.actor == TEST:
            # A user waits until the operator has caught up, as for any other work of it.
            await self._caught_up.wait()
        if sent.is_write:
            return await self._write(self._identified(sent), proceed)
        if sent.actor != OPERATOR or self.plan is None or sent.info.resource != self.plan.at.place[0]:
            return await proceed()
        if self._stale_view is not None and _may_be_old(sent):
            return await self._stale_view.send(sent.request)
        response = await proceed()
        return _Held(response, self._shown) if self.plan.fault == HIDDEN else response

    async def heal(self) -> None:
        """End a fault that still lasts."""
        self._shown.set()
        await self._start_again()
        await self._unfreeze()

    async def aclose(self) -> None:
        """End the tasks and the old view."""
        self._tasks.cancel()
        await self._unfreeze()
        if self._stale is not None:
            stale, self._stale = self._stale, None
            await stale.stop()

    def _identified(self, sent: SentRequest) -> WriteId:
        info = sent.info
        key = (sent.actor, info.verb, _resource(sent), info.namespace, info.name or _name_in(sent.request.body))
        self._counts[key] += 1
        return WriteId(*key, occurrence=self._counts[key])

    async def _write(self, write: WriteId, proceed: Proceed) -> HttpResponse:
        plan = self.plan
        at = plan is not None and not self.fired and write == plan.at
        if at:
            await self._before()
        response = await proceed()
        if response.status < 300:
            self.writes.append(write)
        if at:
            await self._after()
        if plan is not None and self.fired and write == plan.until:
            await self._end()
        return response

    async def _before(self) -> None:
        assert self.plan is not None
        self.fired = True
        if self.plan.fault == CRASH_BEFORE:
            await self._crash()
        elif self.plan.fault == REFUSED:
            raise TransportError("connection refused", sent=False)
        elif self.plan.fault == STALE:
            server = await self.cluster.server()
            self._stale = LogicalServer(
                server.store.fork(), template().parts, ServerSettings(server.settings.admission)
            )
        elif self.plan.fault == HIDDEN:
            self._shown.clear()
            self._spawn(self._show_later())

    async def _after(self) -> None:
        assert self.plan is not None
        if self.plan.fault == CRASH_AFTER:
            await self._crash()
        elif self.plan.fault == LOST:
            raise TransportError("the connection was lost before the response", sent=True)
        elif self.plan.fault == SLOW:
            self._caught_up.clear()
            await asyncio.sleep(SLOW_S)
            self._caught_up.set()
        elif self.plan.fault == DOWN:
            self._dead = self._down = True
            self._spawn(self._stay_down())
            await asyncio.get_running_loop().create_future()

    async def _end(self) -> None:
        assert self.plan is not None
        if self.plan.fault == HIDDEN:
            self._shown.set()
        elif self.plan.fault == DOWN:
            await self._start_again()
        elif self.plan.fault == STALE and self._stale is not None and self._stale_view is None:
            self._spawn(self._restart(stale=True))

    async def _crash(self) -> None:
        """Crash the operator, whose request this is: the call does not return."""
        self._dead = True
        self._spawn(self._restart())
        await asyncio.get_running_loop().create_future()

    async def _restart(self, *, stale: bool = False) -> None:
        assert self.running is not None
        self._dead = True
        await self.running.crash()
        if stale and self._stale is not None:
            await self._freeze(self._stale)
        self._dead = False
        self.running.restart()
        if stale:
            await asyncio.sleep(STALE_S)
            await self._unfreeze()

    async def _stay_down(self) -> None:
        """Stop the operator, and start it again if the plan's write does not come."""
        assert self.running is not None
        await self.running.crash()
        self._stopped.set()
        await asyncio.sleep(HIDDEN_S_MAX)
        await self._start_again()

    async def _start_again(self) -> None:
        """Start an operator that is down."""
        if self._down:
            self._down = False
            await self._stopped.wait()
            assert self.running is not None
            self._dead = False
            self.running.restart()

    async def _freeze(self, stale: LogicalServer) -> None:
        self._caught_up.clear()
        await stale.start()
        headers = {"authorization": f"Bearer {stale.users.token_of(ADMIN)}", "user-agent": OPERATOR}
        self._stale_view = InProcessTransport(stale.api.handler, headers=headers)

    async def _unfreeze(self) -> None:
        """Let the operator read the present state: its watches of the old one end."""
        view, self._stale_view = self._stale_view, None
        if view is not None:
            await view.aclose()
        self._caught_up.set()

    async def _show_later(self) -> None:
        await asyncio.sleep(HIDDEN_S_MAX)
        self._shown.set()

    def _spawn(self, work: Any) -> None:
        self._tasks.begin(work, "fault")


class _Held:
    """Response whose body stops while a state is hidden."""

    def __init__(self, inner: HttpResponse, shown: asyncio.Event) -> None:
        self._inner, self._shown = inner, shown

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner.chunks():
            await self._shown.wait()
            yield chunk


def _may_be_old(sent: SentRequest) -> bool:
    """Return True for a read that a server answers from its cache. A get and a list without a version are live."""
    return sent.info.verb == "watch" or (sent.info.verb == "list" and "resourceVersion=" in sent.request.target)


def _resource(sent: SentRequest) -> str:
    info = sent.info
    return f"{info.resource}/{info.subresource}" if info.subresource else info.resource


def _name_in(body: bytes) -> str:
    """Return the name of an object to create; the generated part of a name is not known yet."""
    try:
        metadata = orjson.loads(body)["metadata"]
        return str(metadata.get("name") or metadata.get("generateName") or "")
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
