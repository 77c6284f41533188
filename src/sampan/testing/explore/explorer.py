"""`explore`: runs all plans of a scenario and reports their findings."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final

from sampan.core.clock import monotonic
from sampan.testing.cluster import TEST
from sampan.testing.explore.outcome import Outcome, differences, unstable_paths
from sampan.testing.explore.parallel import run_all
from sampan.testing.explore.plan import (
    ABSENT,
    DELETIONS,
    DRIFT_DELETED,
    HIDDEN,
    REMOVED,
    PlannedFault,
    replay_text,
)
from sampan.testing.explore.plans import bounded, plans_of
from sampan.testing.explore.scenario import Scenario
from sampan.testing.explore.shrink import without
from sampan.testing.explore.trial_points import OPERATOR
from sampan.testing.explore.trial_run import run_trial

PLANS_MAX: Final = 400
_STORY_MAX: Final = 25
_SAME_MAX: Final = 15
_NO_COUNTS: Final = (HIDDEN, DRIFT_DELETED, ABSENT, *DELETIONS)
"""Faults after which objects may be deleted more or less often than in the reference."""

Progress = Callable[[int, int], None]


class ReferenceFailed(AssertionError):
    """The scenario fails without any fault."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A plan after which the final state is not that of the reference."""

    scenario: str
    plan: PlannedFault
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

    pytest_section: ClassVar[str] = "exploration"
    """Title of the report in pytest's output, if a failed test has it in a variable."""
    scenario: str
    plans: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Plans that were not run by fault, because there were too many."""
    missed: int = 0
    """Plans whose fault did not occur: the run differed before the moment of the fault."""
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    survivors: Sequence[str] = ()
    """Objects that the operator made, and that exist without a fault although the user has deleted everything."""

    @property
    def skipped(self) -> int:
        """Number of plans that were not run."""
        return sum(self.left_out.values())

    def __str__(self) -> str:
        head = f"{self.scenario}: {self.plans} plans in {self.seconds:.1f} s, {len(self.findings)} with another end"
        if self.skipped:
            counts = ", ".join(f"{count} {fault}" for fault, count in sorted(self.left_out.items()))
            head += f", {self.skipped} not run ({counts})"
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
    jobs: int = 1,
) -> Report:
    """Run a scenario with each single fault. Raises `ReferenceFailed` if it fails without one.

    `first_only`: stop at the first finding. `progress` gets the number of completed runs, and their total. `seed`: try
    the plans in a random order, so that `plans_max` of them are a sample. `jobs`: number of
    processes, on which the report does not depend.
    """
    began = monotonic()
    reference, unstable = _reference(scenario)
    if not reference.requests:
        raise ReferenceFailed(f"{scenario.name}: the operator sent no request: does it watch the kind of the scenario?")
    plans = list(dict.fromkeys(plans_of(reference, scenario)))
    if seed is not None:
        random.Random(seed).shuffle(plans)
    chosen = plans[:plans_max] if seed is not None else bounded(plans, plans_max)
    left_out = Counter(each.fault for each in plans) - Counter(each.fault for each in chosen)
    report = Report(scenario.name, left_out=left_out, survivors=_survivors(reference))

    def run(plan: PlannedFault) -> tuple[bool, Finding | None]:
        outcome = run_trial(scenario, plan, reference=reference, unstable=unstable)
        found = _differences(plan, reference, outcome, unstable) if outcome.fired else []
        return outcome.fired, Finding(scenario.name, plan, found, reference, outcome) if found else None

    progress(0, len(chosen))
    for fired, finding in run_all(run, chosen, jobs):
        report.plans += 1
        progress(report.plans, len(chosen))
        report.missed += not fired
        if finding is not None:
            report.findings.append(finding)
            if first_only:
                break
    report.seconds = monotonic() - began
    return report


def replay(scenario: Scenario, plan: PlannedFault) -> Finding | None:
    """Run a scenario with one plan. Returns None if the final state is that of the reference.

    Raises `ReferenceFailed`, and `LookupError` if the fault does not occur.
    """
    scenario = without(scenario, plan.without)
    reference, unstable = _reference(scenario)
    outcome = run_trial(scenario, plan, reference=reference, unstable=unstable)
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
    # The state of an external system is no object.
    objects = [key.removeprefix("/registry/") for key in reference.state if key.startswith("/registry/")]
    alive = {_place(key): key for key in objects}
    of_user = {each.place for each in reference.writes if each.actor == TEST}
    # The last write counts: the user may create an object again after its deletion.
    last = {each.place: each.verb for each in reference.writes if each.actor == TEST}
    remaining = {place for place, verb in last.items() if verb != "delete"}
    deleted = {each.place for each in reference.writes if each.actor == TEST and each.verb == "delete"}
    if not deleted or any((namespace, name) in alive for _, namespace, name in remaining):
        return []
    made = {each.place[1:] for each in reference.writes if each.actor == OPERATOR and each.place not in of_user}
    return sorted(key for place, key in alive.items() if place in made)


def _place(key: str) -> tuple[str, str]:
    """Return namespace and name; of a generated name, such as `berth-#2`, the part that the write has: `berth-`."""
    namespace, name = key.split("/")[-2:]
    return namespace, name.partition("#")[0]


def _reference(scenario: Scenario) -> tuple[Outcome, frozenset[str]]:
    first = run_trial(scenario)
    if first.error or first.leaks or first.broken:
        causes = first.error or "; ".join([*first.leaks, *first.broken])
        details = f"\n{first.details}" if "\n" in first.details else ""
        raise ReferenceFailed(f"{scenario.name} fails without a fault: {causes}{details}")
    if signs := [each for each in first.suspicious if not each.startswith(tuple(scenario.allowed))]:
        hint = "If this is right, allow it: @scenario(allowed=[...]) takes the beginnings of these lines."
        raise ReferenceFailed(
            "\n  ".join([f"{scenario.name} looks wrong without a fault: {signs[0]}", *signs[1:], hint])
        )
    # The second seed makes other uids: the fields that contain them are not compared.
    return first, unstable_paths(first, run_trial(scenario, seed=1))


def _differences(plan: PlannedFault, reference: Outcome, found: Outcome, unstable: frozenset[str]) -> list[str]:
    if plan.fault == REMOVED:
        # The operator cannot do its work, but it must not end, break a rule, or leave anything behind.
        found = replace(found, state=reference.state)
    return differences(reference, found, unstable, counts=plan.fault not in _NO_COUNTS)
