"""`explore`: runs all plans of a scenario and reports their findings."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from sampan.core.clock import monotonic
from sampan.testing.cluster import TEST
from sampan.testing.explore.deletions import deletions
from sampan.testing.explore.outcome import Outcome, differences, unstable_paths
from sampan.testing.explore.plan import (
    ABSENT,
    CANCELLED,
    CRASH_AFTER,
    CRASH_BEFORE,
    DELETIONS,
    DOWN,
    DRIFT_CHANGED,
    DRIFT_DELETED,
    HIDDEN,
    LOST,
    LOST_LEASE,
    REFUSED,
    REMOVED,
    SLOW,
    STALE,
    Plan,
    WriteId,
    replay_text,
)
from sampan.testing.explore.scenario import Scenario
from sampan.testing.explore.shrink import without
from sampan.testing.explore.trial_points import OPERATOR
from sampan.testing.explore.trial_run import run_trial
from sampan.testing.faults.points import CALL

PLANS_MAX: Final = 400
_STORY_MAX: Final = 25
_SAME_MAX: Final = 15
_NO_COUNTS: Final = (HIDDEN, DRIFT_DELETED, ABSENT, *DELETIONS)
"""Faults after which objects may be deleted more or less often than in the reference."""
_NO_MOMENTS: Final = ("events",)
"""Resources at whose writes no fault occurs. An operator sends its Events in the background, and may lose them."""

Progress = Callable[[int, int], None]


class ReferenceFailed(AssertionError):
    """The scenario fails without any fault."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A plan after which the final state is not that of the reference."""

    scenario: str
    plan: Plan
    differences: Sequence[str]
    reference: Outcome
    outcome: Outcome

    @property
    def replay(self) -> str:
        """Text of the replay file."""
        return replay_text(self.scenario, self.plan)

    def __str__(self) -> str:
        lines = [f"{self.scenario}: {self.plan}", *(f"  {each}" for each in self.differences[:10])]
        width = max([len(line) for line in self.reference.story[:_STORY_MAX]] + [20])
        lines.append(f"  {'without the fault':{width}}  with it")
        left, right = self.reference.story[:_STORY_MAX], self.outcome.story[:_STORY_MAX]
        for number in range(max(len(left), len(right))):
            first = left[number] if number < len(left) else ""
            second = right[number] if number < len(right) else ""
            lines.append(f"  {first:{width}}  {second}".rstrip())
        return "\n".join(lines)


@dataclass(slots=True)
class Report:
    """Result of an exploration."""

    scenario: str
    plans: int = 0
    skipped: int = 0
    """Plans that were not run, because there were too many."""
    missed: int = 0
    """Plans whose fault did not occur: the run differed before the moment of the fault."""
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    survivors: Sequence[str] = ()
    """Objects that the operator made, and that exist without a fault although the user has deleted everything."""

    def __str__(self) -> str:
        head = f"{self.scenario}: {self.plans} plans in {self.seconds:.1f} s, {len(self.findings)} with another end"
        if self.skipped:
            head += f", {self.skipped} not run"
        if self.survivors:
            head += f"\nnote: {', '.join(self.survivors)} outlives all objects of the user: has it an owner?"
        groups: dict[tuple[str, ...], list[Finding]] = {}
        for each in self.findings:
            groups.setdefault(tuple(each.differences), []).append(each)
        return "\n\n".join([head, *map(_grouped, groups.values())])


def _grouped(findings: Sequence[Finding]) -> str:
    """Return the text of the first finding, and a line for each plan with the same differences."""
    first, similar = findings[0], findings[1:]
    if not similar:
        return str(first)
    lines = [str(first), f"  the same differences with {len(similar)} more:"]
    lines += [f"    {each.plan}" for each in similar[:_SAME_MAX]]
    return "\n".join([*lines, *([f"    … and {len(similar) - _SAME_MAX} more"] if len(similar) > _SAME_MAX else [])])


def explore(
    scenario: Scenario,
    *,
    plans_max: int = PLANS_MAX,
    first_only: bool = False,
    progress: Progress = lambda _, __: None,
    seed: int | None = None,
) -> Report:
    """Run a scenario with each single fault. Raises `ReferenceFailed` if it fails without one.

    `first_only`: stop at the first finding. `progress` gets the number of completed runs, and their total. `seed`: try
    the plans in a random order, so that `plans_max` of them are a sample.
    """
    began = monotonic()
    reference, unstable = _reference(scenario)
    if not reference.requests:
        raise ReferenceFailed(f"{scenario.name}: the operator sent no request: does it watch the kind of the scenario?")
    plans = list(_plans(reference, scenario))
    if seed is not None:
        random.Random(seed).shuffle(plans)
    report = Report(scenario.name, skipped=max(len(plans) - plans_max, 0), survivors=_survivors(reference))
    for number, plan in enumerate(plans[:plans_max]):
        progress(number, min(len(plans), plans_max))
        outcome = run_trial(scenario, plan)
        report.plans += 1
        if not outcome.fired:
            report.missed += 1
            continue
        if found := _differences(plan, reference, outcome, unstable):
            report.findings.append(Finding(scenario.name, plan, found, reference, outcome))
            if first_only:
                break
    report.seconds = monotonic() - began
    return report


def replay(scenario: Scenario, plan: Plan) -> Finding | None:
    """Run a scenario with one plan. Returns None if the final state is that of the reference.

    Raises `ReferenceFailed`, and `LookupError` if the fault does not occur.
    """
    scenario = without(scenario, plan.without)
    reference, unstable = _reference(scenario)
    outcome = run_trial(scenario, plan)
    if not outcome.fired:
        raise LookupError(f"the fault never occurred: {scenario.name} has no write {plan.at}: explore it again")
    found = _differences(plan, reference, outcome, unstable)
    return Finding(scenario.name, plan, found, reference, outcome) if found else None


def shrink(scenario: Scenario, finding: Finding) -> Finding:
    """Return a finding with the same fault and difference but fewer changes of the user, or `finding` itself.

    Changes are left out one after the other, the last one first. Each attempt takes three runs.
    """
    best, expected = finding, set(finding.differences)
    needed = {finding.plan.at, finding.plan.until}
    for write in [each for each in reversed(finding.reference.writes) if each.actor == TEST and each not in needed]:
        plan = replace(best.plan, without=(*best.plan.without, write))
        try:
            found = replay(scenario, plan)
        except (ReferenceFailed, LookupError):
            continue
        if found is not None and expected.intersection(found.differences):
            best = found
    return best


def _survivors(reference: Outcome) -> list[str]:
    """Return the names of the operator's objects at the end, if the user has deleted all objects of the user."""
    alive = {tuple(key.split("/")[-2:]): key.removeprefix("/registry/") for key in reference.state}
    of_user = {each.place for each in reference.writes if each.actor == TEST}
    deleted = {each.place for each in reference.writes if each.actor == TEST and each.verb == "delete"}
    if not deleted or any((namespace, name) in alive for _, namespace, name in of_user - deleted):
        return []
    made = {each.place[1:] for each in reference.writes if each.actor == OPERATOR and each.place not in of_user}
    return sorted(key for place, key in alive.items() if place in made)


def _reference(scenario: Scenario) -> tuple[Outcome, frozenset[str]]:
    first = run_trial(scenario)
    if first.error or first.leaks or first.broken:
        causes = first.error or "; ".join([*first.leaks, *first.broken])
        details = f"\n{first.details}" if "\n" in first.details else ""
        raise ReferenceFailed(f"{scenario.name} fails without a fault: {causes}{details}")
    # The second seed makes other uids: the fields that contain them are not compared.
    return first, unstable_paths(first, run_trial(scenario, seed=1))


def _differences(plan: Plan, reference: Outcome, found: Outcome, unstable: frozenset[str]) -> list[str]:
    if plan.fault == REMOVED:
        # The operator cannot do its work, but it must not end, break a rule, or leave anything behind.
        found = replace(found, state=reference.state)
    return differences(reference, found, unstable, counts=plan.fault not in _NO_COUNTS)


def _plans(reference: Outcome, scenario: Scenario) -> Iterator[Plan]:
    """Yield the plans, those of the most frequent errors first."""
    writes = [write for write in reference.writes if write.place[0] not in _NO_MOMENTS]
    own = [write for write in writes if write.actor == OPERATOR]
    for fault in (CRASH_AFTER, LOST, CRASH_BEFORE, REFUSED):
        for write in own:
            yield Plan(fault, write)
    yield from _hidden(writes)
    yield from _stale(writes)
    yield from (Plan(SLOW, write) for write in own)
    yield from _down(writes)
    if scenario.drift:
        for fault in (DRIFT_DELETED, DRIFT_CHANGED):
            yield from (Plan(fault, write) for write in _first_of_each_place(reference.owned))
    if scenario.lease:
        yield from (Plan(LOST_LEASE, write) for write in own)
    yield from (Plan(ABSENT, each) for each in reference.needed)
    yield from deletions(reference, _NO_MOMENTS)
    yield from (Plan(CANCELLED, each) for each in reference.awaits)


def _first_of_each_place(writes: Sequence[WriteId]) -> list[WriteId]:
    return list({write.place: write for write in reversed(writes)}.values())[::-1]


def _hidden(writes: Sequence[WriteId]) -> Iterator[Plan]:
    """Yield a plan for each state that the next write to its object replaces, unless that write is a reaction."""
    by_place: dict[tuple[str, str, str], list[WriteId]] = {}
    for write in writes:
        by_place.setdefault(write.place, []).append(write)
    for of_one in by_place.values():
        for first, second in pairwise(of_one):
            if second.actor != OPERATOR:
                yield Plan(HIDDEN, first, second)


def _down(writes: Sequence[WriteId]) -> Iterator[Plan]:
    """Yield a plan for each write of the operator before a user's write, until which the operator is down.

    There is none if the user creates again what the user deleted: the operator may have to remove a finalizer first.
    """
    for number, write in enumerate(writes):
        user = next((each for each in writes[number + 1 :] if each.actor == TEST), None)
        if write.actor != OPERATOR or user is None:
            continue
        before = [each.verb for each in writes[:number] if each.actor == TEST and each.place == user.place]
        if before[-1:] != ["delete"]:
            yield Plan(DOWN, write, user)


def _stale(writes: Sequence[WriteId]) -> Iterator[Plan]:
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
                yield Plan(STALE, frozen, restart)
