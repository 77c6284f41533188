"""Expectations: `eventually`, `consistently`, `never`, and assertions about writes.

They wait for writes to the store, so they need no polling and no sleep. Their limits are seconds of the cluster's
clock: in virtual time a high limit costs nothing.
"""

import asyncio
import datetime as dt
import inspect
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sampan.client import ClientError
from sampan.client.conditions import Condition
from sampan.resource import Object
from sampan.testing.cluster_operators import ClusterOperators
from sampan.testing.journal import Journal, JournalEntry
from sampan.testing.object_verbs import ObjectVerbs, split
from sampan.testing.observations.timeline import MASK, ObjectPlace, described, failing, forbidden, short, timeline
from sampan.testing.predicates import Predicate, predicate_of, source_of
from sampan.testing.requests import Requests

WITHIN_S: Final = 300.0
DURING_S: Final = 60.0
_LOOK_S: Final = 1.0
"""Longest time between two checks: a function may check something that is not in the store."""
_DIFFERENCES_MAX: Final = 5
_NEED_A_LOOP: Final = ("condition ", ".status", "being deleted")
"""Parts of a difference that only a control loop ends."""
_OWN_LEASES: Final = "/registry/leases/"
_EVENTS: Final = "/registry/events/"

Expected = Predicate | Condition | Callable[[Any], Any]


class NotMet(AssertionError):
    """An expectation failed. The message has the state nearest to the expected one, and the timeline of the object."""


@dataclass(slots=True)
class _Nearest:
    """State with the fewest differences so far, and the last state."""

    differences: list[str] | None = None
    at: str = ""
    last: list[str] | None = None

    def note(self, differences: list[str], at: str) -> None:
        self.last = differences
        if self.differences is None or len(differences) < len(self.differences):
            self.differences, self.at = differences, at


class Observed(Protocol):
    """Cluster, as its expectations see it."""

    @property
    def journal(self) -> Journal: ...

    @property
    def requests(self) -> Requests: ...

    async def begin(self) -> None: ...

    def check(self) -> None: ...

    async def settled(self) -> None: ...

    def now(self) -> dt.datetime: ...


class Expectations:
    """Expectations of a cluster. `Cluster` has the same methods, and documents their arguments."""

    def __init__(
        self, cluster: Observed, verbs: ObjectVerbs, operators: ClusterOperators, hint: Callable[[str], str]
    ) -> None:
        """`hint` returns a line about the loop that a resource needs and that does not run, or an empty text."""
        self._cluster = cluster
        self._verbs = verbs
        self._operators = operators
        self._hint = hint

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
        predicate, nearest = _predicate(what, expected), _Nearest()
        await self._cluster.begin()
        deadline = asyncio.get_running_loop().time() + within
        while True:
            writes = len(self._cluster.journal.writes)
            state, differences = await self._look(what, predicate, namespace)
            if not differences:
                return state
            nearest.note(differences, self._when())
            self._cluster.check()
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                raise NotMet(
                    await self._report(
                        f"{_name(what)} has to {predicate} within {within:g} s", what, namespace, nearest
                    )
                )
            if writes == len(self._cluster.journal.writes):
                await self._cluster.journal.changed.wait(min(left, _LOOK_S))

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
        await self._throughout(what, _predicate(what, expected), "keep to", during, namespace)

    async def never(
        self,
        what: str | Callable[[], Any],
        expected: Expected | None = None,
        *,
        during: float = DURING_S,
        namespace: str | None = None,
    ) -> None:
        """Check that no state during this time meets a predicate. Raises `NotMet` at the first state that does."""
        await self._throughout(what, ~_predicate(what, expected), "", during, namespace)

    @asynccontextmanager
    async def no_writes(self, *actors: str) -> AsyncIterator[None]:
        """Check that operators send no write during the block and until the cluster has settled.

        Without `actors`, all that `run` started are checked. Renewals of leases are allowed. Raises `NotMet`,
        `RuntimeError` if nothing runs that could write.
        """
        names = set(actors) or set(self._operators.names)
        if not names:
            raise RuntimeError("no operator runs: start one with cluster.run() before no_writes(), or name actors")
        first = len(self._cluster.requests)
        yield
        await self._cluster.settled()
        sent = self._cluster.requests.after(first).writes
        writes = [each for each in sent if each.actor in names and each.resource != "leases"]
        if writes:
            raise NotMet("\n".join([f"no writes were expected, but there are {len(writes)}:", *_listed(writes)]))

    async def assert_idempotent(self) -> None:
        """Restart all operators, with empty caches, and check that they change nothing.

        Raises `NotMet`, `RuntimeError` if no operator runs.
        """
        if not self._operators.running:
            raise RuntimeError("no operator runs: start one with cluster.run() before assert_idempotent()")
        await self._cluster.settled()
        first = len(self._cluster.journal.writes)
        for running in self._operators.running:
            await running.stop()
            running.restart()
        await self._cluster.settled()
        writes = self._cluster.journal.writes[first:]
        changes = [each for each in writes if not each.key.startswith((_OWN_LEASES, _EVENTS))]
        if changes:
            names = list(dict.fromkeys(short(each.key) for each in changes))
            shown = f"{', '.join(names[:3])}{', …' if len(names) > 3 else ''}"
            raise NotMet("\n".join([f"a restart of the operators changed {shown}:", *_changes(changes)]))

    async def _throughout(
        self, what: str | Callable[[], Any], predicate: Predicate, word: str, during: float, namespace: str | None
    ) -> None:
        await self._cluster.begin()
        end = asyncio.get_running_loop().time() + during
        while True:
            writes = len(self._cluster.journal.writes)
            _, differences = await self._look(what, predicate, namespace)
            if differences:
                nearest = _Nearest(differences, self._when(), differences)
                text = f"{_name(what)} has to {word} {predicate} for {during:g} s".replace("  ", " ")
                raise NotMet(await self._report(text, what, namespace, nearest))
            self._cluster.check()
            left = end - asyncio.get_running_loop().time()
            if left <= 0:
                return
            if writes == len(self._cluster.journal.writes):
                await self._cluster.journal.changed.wait(min(left, _LOOK_S))

    async def _look(
        self, what: str | Callable[[], Any], predicate: Predicate, namespace: str | None
    ) -> tuple[Any, list[str]]:
        """Return the current state, and its differences from the predicate."""
        if callable(what):
            state = what()
            if inspect.isawaitable(state):
                state = await state
            return state, predicate.explain(state)
        state = await self._verbs.find(what, namespace=namespace)
        differences = predicate.explain(state)
        if differences and state is not None and state.get("kind") == "Secret":
            differences = predicate.explain(_masked(state)) or ["the value differs"]
        return state, differences

    async def _report(self, text: str, what: str | Callable[[], Any], namespace: str | None, nearest: _Nearest) -> str:
        lines = [text]
        if nearest.last:
            lines += [f"  last state: {each}" for each in nearest.last[:_DIFFERENCES_MAX]]
        if nearest.differences and nearest.differences != nearest.last:
            lines += [f"  nearest, at {nearest.at}: {each}" for each in nearest.differences[:_DIFFERENCES_MAX]]
        place = None if callable(what) else await self._place(what, namespace)
        if place is not None:
            lines.append(f"timeline of {_name(what)} and what it owns, until {self._when()}:")
            lines += timeline(place, self._cluster.journal, self._cluster.requests, self._operators.reconciles)
            if any(word in each for each in nearest.last or () for word in _NEED_A_LOOP):
                lines += [each for each in [self._hint(place.resource)] if each]
        if failures := failing(self._operators.reconciles):
            lines += ["reconciles that fail:", *failures]
        if refused := forbidden(self._cluster.requests, set(self._operators.names)):
            lines += ["requests without a right:", *refused]
        return "\n".join(lines)

    async def _place(self, what: Any, namespace: str | None) -> ObjectPlace | None:
        kind, name = split(what, "")
        try:
            client = await self._verbs.resource(kind, namespace)
        except ClientError:
            return None
        info = client.info
        return ObjectPlace(info.gvr.resource, client.namespace if info.namespaced else "", name)

    def _when(self) -> str:
        return self._cluster.now().strftime("%H:%M:%S.%f")[:-3]


def _predicate(what: Any, expected: Expected | None) -> Predicate:
    if expected is None and callable(what):
        words = source_of(what)
        return Predicate(f"make {words} true", lambda value: [] if value else [f"{words} is {value!r}"])
    return predicate_of(expected)


def _name(what: Any) -> str:
    return what if isinstance(what, str) else "the function"


def _masked(secret: Object) -> Object:
    masked = deepcopy(secret)
    for part in ("data", "stringData"):
        if isinstance(masked.get(part), dict):
            masked[part] = dict.fromkeys(masked[part], MASK)
    return masked


def _changes(writes: Iterable[JournalEntry]) -> list[str]:
    return _listed(f"r{each.revision} {short(each.key)} {described(each)}" for each in writes)


def _listed(items: Iterable[object]) -> list[str]:
    lines = [f"  {each}" for each in items]
    return lines if len(lines) <= 20 else [*lines[:20], f"  … and {len(lines) - 20} more"]
