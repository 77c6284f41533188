"""`EndlessWork`: detects operators that work without end, from the writes to the store.

Such an operator starts each reconcile with the write of the last one. In virtual time, that is a reconcile each 2 ms,
or 27,000 in a minute. The rule needs 10 s of them. Some loops end after 5 s: those of an operator that sees a deletion
late, because an exploration delays what it sees by so much.

| what | rule |
|---|---|
| endless work | for 10 s, without progress, 100 reconciles of one object or writes of it a second; or 10,000 in all |
| progress | the first 20 writes of each object; all writes of clients other than operators and built-in loops |
| reconciles that count | one for each write to the store |
| writes that do not matter | Leases and Events |
| creation of an object with a generated name | counts, and is no progress |

So this work never counts as endless, however long it lasts: a rollout of many Pods, because each Pod has few writes; a
chain of reconciles that each create a child with a computed name; retries with backoff; `requeue_after_s` of more than
10 ms; polling without writes.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from typing import Final

from sampan.testing.control_loops.sets import ACTORS
from sampan.testing.journal import JournalEntry
from sampan.testing.operators.running import Running
from sampan.testing.requests import Requests

REPEATS_MAX: Final = 1000
"""Reconciles or writes of one object, without progress, that are too fast if they occur within `WINDOW_S`."""
WINDOW_S: Final = 10.0
"""Slower ones come from a timer."""
LASTING_S: Final = 10.0
"""Seconds for which they must be too fast. A fault of an exploration takes 5 s."""
TOTAL_MAX: Final = 10 * REPEATS_MAX
"""Number of too fast repetitions that are endless even if the clock stands still."""
PROGRESS_WRITES: Final = 20
"""Number of first writes of an object that are progress, such as the phases of a Pod."""
_IGNORED: Final = ("/registry/leases/", "/registry/events/")


class EndlessWork:
    """Counts repetitions, from now on. `found` is called once, when they are endless."""

    def __init__(self, requests: Requests, operators: Sequence[Running], found: Callable[[], None]) -> None:
        self._requests, self._operators, self._found = requests, operators, found
        self.is_found = False
        self._requests_read = len(requests)
        self._reconciles_read = {each: len(each.reconciles) for each in operators}
        self._writes: Counter[str] = Counter()
        self._repeats: defaultdict[Hashable, _Repeats] = defaultdict(_Repeats)

    def note(self, write: JournalEntry) -> None:
        """Take the next write to the store."""
        if self.is_found or write.key.startswith(_IGNORED):
            return
        self._writes[write.key] += 1
        reconciled, is_progress = self._reconciled(), self._is_progress(write)
        if is_progress:
            self._repeats.clear()
            return
        for place in (write.key, *reconciled):
            self.is_found = self._repeats[place].add(write.at_s) or self.is_found
        if self.is_found:
            self._found()

    def _is_progress(self, write: JournalEntry) -> bool:
        if self._client_wrote():
            return True
        if write.event.previous is None and "generateName" in (write.after or {}).get("metadata", {}):
            return False
        return self._writes[write.key] <= PROGRESS_WRITES

    def _client_wrote(self) -> bool:
        """Return True if a client of the test has sent a write since the last call."""
        first, self._requests_read = self._requests_read, len(self._requests)
        own = {each.name for each in self._operators} | ACTORS
        sent = (self._requests[number] for number in range(first, self._requests_read))
        return any(each.is_write and each.actor not in own for each in sent)

    def _reconciled(self) -> set[Hashable]:
        """Return the objects of the reconciles since the last call, with their operators and controllers."""
        places: set[Hashable] = set()
        for operator in self._operators:
            first = self._reconciles_read.get(operator, 0)
            self._reconciles_read[operator] = len(operator.reconciles)
            for each in operator.reconciles[first:]:
                places.add((each.actor, each.controller, each.namespace, each.name))
        return places


class _Repeats:
    """Repetitions of one object since the last progress."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=REPEATS_MAX)
        self._fast_from_s = 0.0
        self._fast = 0

    def add(self, at_s: float) -> bool:
        """Add a repetition. Return True if they are endless."""
        self._times.append(at_s)
        if len(self._times) < REPEATS_MAX or at_s - self._times[0] > WINDOW_S:
            self._fast = 0
            return False
        if not self._fast:
            self._fast_from_s, self._fast = self._times[0], REPEATS_MAX - 1
        self._fast += 1
        return self._fast >= TOTAL_MAX or at_s - self._fast_from_s >= LASTING_S
