"""`plans_of`: all plans of a scenario, from the run without a fault."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from sampan.testing.cluster import TEST
from sampan.testing.explore.deletions import deletions
from sampan.testing.explore.outcome import Outcome
from sampan.testing.explore.plan import (
    ABSENT,
    CANCELLED,
    CONFLICT,
    CRASH_AFTER,
    CRASH_BEFORE,
    DOWN,
    DRIFT_CHANGED,
    DRIFT_DELETED,
    HIDDEN,
    LATE,
    LOST,
    LOST_LEASE,
    OUTAGE,
    OVERTAKEN,
    REFUSED,
    SERVER_ERROR,
    SLOW,
    STALE,
    TIMEOUT,
    PlannedFault,
    WriteId,
)
from sampan.testing.explore.scenario import Scenario
from sampan.testing.explore.trial_points import OPERATOR
from sampan.testing.faults.points import CALL

_NO_MOMENTS: Final = ("events",)
"""Resources at whose writes no fault occurs. An operator sends its Events in the background, and may lose them."""
_CHANGES: Final = ("update", "patch")


def plans_of(reference: Outcome, scenario: Scenario) -> Iterator[PlannedFault]:
    """Yield the plans, those of the most frequent errors first."""
    writes = [write for write in reference.writes if write.place[0] not in _NO_MOMENTS]
    own = [write for write in writes if write.actor == OPERATOR]
    for fault in (CRASH_AFTER, LOST, CRASH_BEFORE, REFUSED):
        for write in own:
            yield PlannedFault(fault, write)
    yield from _hidden(writes)
    yield from _stale(writes)
    yield from (PlannedFault(SLOW, write) for write in own)
    yield from _down(writes)
    if scenario.drift:
        for fault in (DRIFT_DELETED, DRIFT_CHANGED):
            yield from (PlannedFault(fault, write) for write in _first_of_each_place(reference.owned))
    if scenario.lease:
        yield from (PlannedFault(LOST_LEASE, write) for write in own)
    yield from (PlannedFault(ABSENT, each) for each in reference.needed)
    yield from deletions(reference, _NO_MOMENTS)
    yield from _conflicts(writes, own, {each.place for each in reference.needed})
    yield from _of_reads([each for each in reference.reads if each.place[0] not in _NO_MOMENTS])
    yield from (PlannedFault(OUTAGE, each) for each in _first_of_each(own, reference.reads))
    yield from _late(writes, reference.reads)
    if scenario.lease:
        yield from (PlannedFault(LOST_LEASE, each) for each in reference.awaits)
    yield from (PlannedFault(CANCELLED, each) for each in reference.awaits)


def bounded(plans: Sequence[PlannedFault], plans_max: int) -> list[PlannedFault]:
    """Return at most so many plans in their order: of each fault the same number, the first ones."""
    ranks: Counter[str] = Counter()
    ranked = []
    for number, plan in enumerate(plans):
        ranked.append((ranks[plan.fault], number))
        ranks[plan.fault] += 1
    return [plans[number] for number in sorted(number for _, number in sorted(ranked)[:plans_max])]


def _conflicts(
    writes: Sequence[WriteId], own: Sequence[WriteId], existing: set[tuple[str, str, str]]
) -> Iterator[PlannedFault]:
    """Yield the plans in which another client changes the object of a write, which must exist.

    A user's change may come early if it is the user's next write to the object and follows a write of the operator.
    """
    known, changed = set(existing), []
    for write in writes:
        if write.actor == OPERATOR and write.verb in _CHANGES and write.place in known:
            changed.append(write)
        known.add(write.place)
    yield from (PlannedFault(CONFLICT, write) for write in changed)
    for write in changed:
        later = writes[writes.index(write) + 1 :]
        user = next((each for each in later if each.actor == TEST and each.place == write.place), None)
        if user is not None and user.verb in _CHANGES:
            yield PlannedFault(OVERTAKEN, write, user)


def _of_reads(reads: Sequence[WriteId]) -> Iterator[PlannedFault]:
    """Yield the plans of failed and slow reads. A watch is one of a cache, which repeats it."""
    for fault in (SERVER_ERROR, REFUSED, TIMEOUT, SLOW):
        yield from (PlannedFault(fault, read) for read in reads if read.verb != "watch" or fault == REFUSED)


def _first_of_each(own: Sequence[WriteId], reads: Sequence[WriteId]) -> list[WriteId]:
    """Return the writes, and of the reads the first of each object."""
    first = {(read.verb, read.place): read for read in reversed(reads) if read.verb != "watch"}
    return [*(each for each in own if each.verb != CALL), *reversed(first.values())]


def _late(writes: Sequence[WriteId], reads: Sequence[WriteId]) -> Iterator[PlannedFault]:
    """Yield a plan for each write that the operator sees in a watch."""
    watched = {read.place[0] for read in reads if read.verb == "watch"}
    yield from (PlannedFault(LATE, write) for write in writes if write.place[0] in watched)


def _first_of_each_place(writes: Sequence[WriteId]) -> list[WriteId]:
    return list({write.place: write for write in reversed(writes)}.values())[::-1]


def _hidden(writes: Sequence[WriteId]) -> Iterator[PlannedFault]:
    """Yield a plan for each state that the next write to its object replaces, unless that write is a reaction."""
    by_place: dict[tuple[str, str, str], list[WriteId]] = {}
    for write in writes:
        by_place.setdefault(write.place, []).append(write)
    for of_one in by_place.values():
        for first, second in pairwise(of_one):
            if second.actor != OPERATOR:
                yield PlannedFault(HIDDEN, first, second)


def _down(writes: Sequence[WriteId]) -> Iterator[PlannedFault]:
    """Yield a plan for each write of the operator before a user's write, until which the operator is down.

    There is none if the user creates again what the user deleted: the operator may have to remove a finalizer first.
    """
    for number, write in enumerate(writes):
        user = next((each for each in writes[number + 1 :] if each.actor == TEST), None)
        if write.actor != OPERATOR or user is None:
            continue
        before = [each.verb for each in writes[:number] if each.actor == TEST and each.place == user.place]
        if before[-1:] != ["delete"]:
            yield PlannedFault(DOWN, write, user)


def _stale(writes: Sequence[WriteId]) -> Iterator[PlannedFault]:
    """Yield plans that restart the operator after one of its writes, with a view from before an earlier write.

    The earlier write changed another object, or it is the creation after which the operator restarts: that object
    may then be made again. The restart follows the last of a series of the operator's writes: then its work is done,
    and can be undone.
    """
    for number, frozen in enumerate(writes):
        if frozen.verb == CALL:
            continue
        later = writes[number:]
        for index, restart in enumerate(later):
            following = later[index + 1] if index + 1 < len(later) else None
            ends_series = following is None or following.actor != restart.actor
            is_other = restart.place != frozen.place or (restart is frozen and restart.verb == "create")
            if restart.actor == OPERATOR and ends_series and is_other:
                yield PlannedFault(STALE, frozen, restart)
