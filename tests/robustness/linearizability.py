"""Check that calls are linearizable, given what was committed.

The commits' order is known: their revisions. So it is left to find a time for each commit, in that order. The time has
to lie within the call that made the commit. Also, each read has to have seen the state at some time during the read.
All of these are bounds of single commits' times. The lower bounds: a commit was not before the beginning of the call
that made it, nor before that of any read that did not see it. The upper bounds: it was not after the end of that call,
nor after that of any read that saw it. Times exist exactly if no commit has to be later than a commit of a later
revision may be.

Refusals (a conflict, a key that is missing) do not contain the state that was seen. So each of them is checked alone:
a state that explains it must exist at some possible time during the call, with the bounds of all other calls.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate

from tests.robustness.history import Call, Event, Kind, Outcome


def anomalies(calls: Sequence[Call], log: Sequence[Event]) -> list[str]:
    """Return the anomalies as sentences. None: the history is linearizable, and nothing acknowledged is lost."""
    return _Check(calls, log).run()


class _Check:
    def __init__(self, calls: Sequence[Call], log: Sequence[Event]) -> None:
        self.calls = calls
        self.log = log
        self.found: list[str] = []
        self.at = {event.revision: index for index, event in enumerate(log)}
        self.revisions = [event.revision for event in log]
        self.by_key: dict[str, list[int]] = defaultdict(list)
        for index, event in enumerate(log):
            self.by_key[event.key].append(index)
        self.by_value = {event.value: event for event in log if event.value is not None}
        self.deletions = {(event.key, event.before): event for event in log if event.value is None}
        self.deleted: set[int] = set()
        self.not_before = [float("-inf")] * len(log)
        self.not_after = [float("inf")] * len(log)

    def run(self) -> list[str]:
        made: set[int] = set()
        for call in self.calls:
            if call.writes:
                self._write(call, made)
            elif call.outcome is Outcome.DONE:
                self._read(call)
        self.found += [f"nobody wrote {event}" for event in self.log if event.revision not in made]
        self._times()
        for call in self.calls:
            self._refusal(call)
        return self.found

    def _write(self, call: Call, made: set[int]) -> None:
        deletes = call.kind is Kind.DELETE
        event = self.deletions.get((call.key, call.expected)) if deletes else self.by_value.get(call.value)
        if event is None:
            if call.outcome is Outcome.DONE:
                self.found.append(f"lost: {call}")
            return
        if call.outcome not in (Outcome.DONE, Outcome.UNKNOWN):
            if not deletes:  # a deletion that was refused may have been made by another call
                self.found.append(f"refused, and written as {event}: {call}")
            return
        made.add(event.revision)
        if deletes and call.outcome is Outcome.DONE:
            if event.revision in self.deleted:
                self.found.append(f"deleted twice: {call}")
            self.deleted.add(event.revision)
        if call.outcome is Outcome.DONE and call.revision not in (0, event.revision):
            self.found.append(f"written as {event}: {call}")
        if not _allowed(call, event):
            self.found.append(f"not allowed, as the key was at {event.before}: {call}")
        index = self.at[event.revision]
        if call.outcome is Outcome.DONE or not deletes:
            self._after(index, call.begin)
        if call.outcome is Outcome.DONE:
            self._before(index, call.end)

    def _read(self, call: Call) -> None:
        if call.kind is Kind.LIST:
            self._list(call)
            return
        index = self.at.get(call.revision)
        if index is None or (self.log[index].key, self.log[index].value) != (call.key, call.value):
            self.found.append(f"read what was never written: {call}")
            return
        self._before(index, call.end)
        following = self._next_of_key(call.key, index)
        if following is not None:
            self._after(following, call.begin)

    def _list(self, call: Call) -> None:
        until = bisect_right(self.revisions, call.revision)
        state: dict[str, tuple[int, str]] = {}
        for event in self.log[:until]:
            if event.value is None:
                state.pop(event.key, None)
            else:
                state[event.key] = (event.revision, event.value)
        if state != call.items:
            wrong = {key for key in state.keys() | call.items.keys() if state.get(key) != call.items.get(key)}
            self.found.append(f"a list at {call.revision} is wrong about {sorted(wrong)}: {call}")
            return
        if until:
            self._before(until - 1, call.end)
        if until < len(self.log):
            self._after(until, call.begin)

    def _times(self) -> None:
        """Turn bounds of single commits into bounds of each in its place, and report where no time is left."""
        earliest = list(accumulate(self.not_before, max))
        for index, (lower, upper) in enumerate(zip(earliest, self.not_after, strict=True)):
            if lower > upper:
                bounds = f"not after {upper:.4f}, but it or one before it not before {lower:.4f}"
                self.found.append(f"no time for {self.log[index]}: {bounds}")
        self.not_before = earliest
        self.not_after = list(accumulate(reversed(self.not_after), min))[::-1]

    def _refusal(self, call: Call) -> None:
        if call.outcome is Outcome.MISSING:
            fits = any(revision == 0 for revision in self._revisions_during(call))
        elif call.outcome is Outcome.EXISTS:
            fits = any(self._revisions_during(call))
        elif call.outcome is Outcome.CONFLICT:
            fits = any(revision != call.expected for revision in self._revisions_during(call))
        else:
            return
        if not fits:
            self.found.append(f"refused without a reason: {call}")

    def _revisions_during(self, call: Call) -> Iterator[int]:
        """At which revisions the key may have been during a call; 0: it may have been missing."""
        indices = self.by_key[call.key]
        if not indices or self.not_after[indices[0]] >= call.begin:
            yield 0
        for place, index in enumerate(indices):
            ends = self.not_after[indices[place + 1]] if place + 1 < len(indices) else float("inf")
            if self.not_before[index] <= call.end and ends >= call.begin:
                yield 0 if self.log[index].value is None else self.log[index].revision

    def _next_of_key(self, key: str, index: int) -> int | None:
        indices = self.by_key[key]
        place = bisect_right(indices, index)
        return indices[place] if place < len(indices) else None

    def _after(self, index: int, time: float) -> None:
        self.not_before[index] = max(self.not_before[index], time)

    def _before(self, index: int, time: float) -> None:
        self.not_after[index] = min(self.not_after[index], time)


def _allowed(call: Call, event: Event) -> bool:
    if call.kind is Kind.CREATE:
        return event.before == 0
    if call.kind is Kind.PATCH:
        return event.before != 0
    return event.before == call.expected
