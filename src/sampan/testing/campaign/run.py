"""`run_campaign`: all changes of a campaign, and the two oracles.

1. The final state after a change is that of a new cluster with the changed object.
2. The final state after the change back is the first state. If the operator failed in between, it has to recover by
   itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from sampan.core.clock import monotonic
from sampan.testing.campaign.campaign import Campaign
from sampan.testing.campaign.changes import GeneratedChange, changes_of
from sampan.testing.campaign.walk import Walk, walk
from sampan.testing.explore.outcome import Outcome, differences, unstable_paths

VALUES_MAX: Final = 3
"""Number of values of a field."""
CHANGED, BACK, RECOVERY = "change", "change back", "recovery"
_DIFFERENCES_MAX: Final = 10
_WHAT: Final = {
    CHANGED: "the end is not that of a new cluster with this value",
    BACK: "after the change back, the state is not the first one",
    RECOVERY: "the operator failed, and did not recover after the change back",
}

Progress = Callable[[int, int], None]


class BaseFailed(AssertionError):
    """The object of the campaign is refused, or its operator fails before any change."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """A change after which the state is wrong."""

    change: GeneratedChange
    oracle: str
    """`change`, `change back` or `recovery`."""
    differences: Sequence[str]
    timeline: Sequence[str]
    failure: str = ""
    """Error of the operator with the changed value."""

    def __str__(self) -> str:
        lines = [str(self.change), f"  {_WHAT[self.oracle]}:"]
        lines += [f"    {each}" for each in self.differences[:_DIFFERENCES_MAX]]
        if self.failure:
            lines.append(f"  error of the operator: {self.failure}")
        return "\n".join([*lines, "  timeline:", *(f"    {each}" for each in self.timeline)])


@dataclass(slots=True)
class CampaignReport:
    """Result of a campaign."""

    pytest_section: ClassVar[str] = "campaign"
    """Title of the report in pytest's output, if a failed test has it in a variable."""
    name: str
    fields: list[str] = field(default_factory=list)
    """Paths of the fields that were changed."""
    changes: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    """Changes that the server refused, and why: immutable fields."""
    failed: dict[str, str] = field(default_factory=dict)
    """Changes on which the operator failed, and its error."""
    without_effect: list[str] = field(default_factory=list)
    """Fields of which no value changes another object or the status."""
    seconds: float = 0.0
    findings: list[Divergence] = field(default_factory=list)

    def __str__(self) -> str:
        head = (
            f"{self.name}: {self.changes} changes of {len(self.fields)} fields in {self.seconds:.1f} s, "
            f"{len(self.findings)} with a wrong end"
        )
        notes = [f"refused by the server: {each}" for each in self.refused]
        notes += [f"the operator fails: {each}: {why}" for each, why in self.failed.items()]
        notes += [f"no effect: {each}" for each in self.without_effect]
        return "\n\n".join(["\n".join([head, *notes]), *map(str, self.findings)])


def run_campaign(
    campaign: Campaign,
    *,
    seed: int = 0,
    fields: Sequence[str] = (),
    values_max: int = VALUES_MAX,
    first_only: bool = False,
    progress: Progress = lambda _, __: None,
) -> CampaignReport:
    """Change each field of the object, and report the wrong final states. Equal seeds give equal reports.

    `fields`: only these paths and those below them. `first_only`: stop at the first finding. `progress` gets the number
    of completed changes, and their total. Raises `BaseFailed`, `NotGenerated`, `UnknownKind`.
    """
    began = monotonic()
    base, subject = campaign.first(), campaign.subject()
    found = changes_of(
        subject, base, seed=seed, values_max=values_max, meanings=campaign.meanings, values=campaign.values
    )
    changes = [each for each in found if _is_chosen(each.field, fields, campaign.unchanged)]
    unstable = _unstable(campaign, walk(campaign, [base], examined=True), walk(campaign, [base]))
    report = CampaignReport(campaign.name, list(dict.fromkeys(each.field for each in changes)))
    effective: set[str] = set()
    for number, change in enumerate(changes):
        progress(number, len(changes))
        report.changes += 1
        report.findings += _run(campaign, change, base=base, unstable=unstable, report=report, effective=effective)
        if first_only and report.findings:
            break
    else:
        tried = dict.fromkeys(each.field for each in changes if str(each) not in report.refused)
        report.without_effect = [each for each in tried if each not in effective]
    progress(report.changes, len(changes))
    report.seconds = monotonic() - began
    return report


def _run(
    campaign: Campaign,
    change: GeneratedChange,
    *,
    base: dict[str, object],
    unstable: frozenset[str],
    report: CampaignReport,
    effective: set[str],
) -> list[Divergence]:
    there = walk(campaign, [base, change.obj, base])
    changed = there.steps[1]
    if changed.refused:
        report.refused[str(change)] = changed.refused
        return []
    if changed.failed:
        report.failed[str(change)] = changed.failed
    scratch = walk(campaign, [change.obj], [base]).steps[0]
    first, back = there.steps[0].outcome, there.steps[2].outcome
    if _others(there.key, differences(first, scratch.outcome, unstable, counts=False), change):
        effective.add(change.field)
    found = []
    # If the operator fails on the value on both ways, its last good state remains on one of them.
    if not scratch.refused and not (changed.failed and scratch.failed):
        lines = _compared(campaign, scratch.outcome, changed.outcome, unstable)
        if lines:
            found.append(Divergence(change, CHANGED, lines, there.timeline, changed.failed))
    if there.steps[2].refused:
        report.refused[f"{change}, and back"] = there.steps[2].refused
    elif lines := _compared(campaign, first, back, unstable):
        oracle = RECOVERY if changed.failed else BACK
        found.append(Divergence(change, oracle, lines, there.timeline, changed.failed))
    return found


def _compared(campaign: Campaign, reference: Outcome, found: Outcome, unstable: frozenset[str]) -> list[str]:
    lines = differences(reference, found, unstable, counts=False)
    return [each for each in lines if not each.startswith(tuple(campaign.ignored))]


def _others(key: str, lines: Sequence[str], change: GeneratedChange) -> list[str]:
    """Return the differences outside the object's own spec. `key` is that of the object: a child may have its name."""
    own = f"{key}.{change.field.partition('.')[0]}"
    return [each for each in lines if not f"{each.partition(':')[0]}.".startswith(f"{own}.")]


def _unstable(campaign: Campaign, first: Walk, second: Walk) -> frozenset[str]:
    """Return the paths that differ between two walks without a change. Raises `BaseFailed`."""
    step = first.steps[0]
    if why := step.refused or step.broken:
        raise BaseFailed(f"the object fails before any change: {why}")
    if step.idle:
        raise BaseFailed("the operator sent no request: does it watch the kind of the object?")
    if wrong := [each for each in first.wrong if not each.startswith(tuple(campaign.ignored))]:
        hint = "If this is right, allow it: Campaign(ignored=[...]) takes the beginnings of these lines."
        raise BaseFailed("\n  ".join([f"the operator looks wrong before any change: {wrong[0]}", *wrong[1:], hint]))
    return unstable_paths(step.outcome, second.steps[0].outcome)


def _is_chosen(path: str, desired: Sequence[str], unchanged: Sequence[str]) -> bool:
    return (not desired or _is_below(path, desired)) and not _is_below(path, unchanged)


def _is_below(path: str, parents: Sequence[str]) -> bool:
    return any(path == each or path.startswith((f"{each}.", f"{each}[")) for each in parents)
