"""Faults of other clients, reads, late events, outages and awaits with a lease: each finds a bug that is new."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sampan.testing.explore import Report, Scenario, explore
from sampan.testing.explore.plan import (
    CONFLICT,
    LATE,
    LOST_LEASE,
    OUTAGE,
    OVERTAKEN,
    REFUSED,
    SERVER_ERROR,
    TIMEOUT,
    PlannedFault,
    WriteId,
)
from sampan.testing.explore.plans import bounded
from tests.testing.bugs import (
    b15_two_secrets,
    d01_conflict_forgotten,
    d02_lost_label,
    d03_generation_of_a_response,
    d04_error_is_absence,
    d05_map_without_read,
    d06_absent_in_the_cache,
    d07_few_attempts,
    d08_shielded_work,
)

Case = Callable[..., Scenario]
BUGS = [
    (d01_conflict_forgotten.case, {CONFLICT}),
    (d02_lost_label.case, {CONFLICT}),
    (d03_generation_of_a_response.case, {OVERTAKEN}),
    (d04_error_is_absence.case, {SERVER_ERROR}),
    (d04_error_is_absence.case_of_timeout, {TIMEOUT}),
    (d05_map_without_read.case, {SERVER_ERROR, REFUSED, TIMEOUT, OUTAGE}),
    (d06_absent_in_the_cache.case, {LATE}),
    (d07_few_attempts.case, {OUTAGE}),
    (d08_shielded_work.case, {LOST_LEASE}),
]
IDS = [f"{case.__module__[-20:]}.{case.__name__}" for case, _ in BUGS]


@pytest.mark.parametrize(("case", "faults"), BUGS, ids=IDS)
def test_a_bug_is_found_by_its_fault_only_and_no_fault_changes_the_repair(case: Case, faults: set[str]) -> None:
    findings = explore(case(repaired=False)).findings
    assert {each.plan.fault for each in findings} == faults
    if faults & {LOST_LEASE, SERVER_ERROR, TIMEOUT}:
        assert {each.plan.at.verb for each in findings} <= {"get", "list", "await"}
    report = explore(case(repaired=True))
    assert (report.findings, report.missed) == ([], 0)


def without_time(report: Report) -> str:
    """Return a report as text."""
    return str(replace(report, seconds=0.0))


@pytest.mark.parametrize("first_only", [False, True])
def test_the_report_does_not_depend_on_the_number_of_processes(first_only: bool) -> None:
    case, progress = b15_two_secrets.case(repaired=False), []
    alone = explore(case, first_only=first_only)
    together = explore(case, first_only=first_only, jobs=3, progress=lambda done, total: progress.append((done, total)))
    assert without_time(together) == without_time(alone)
    assert [each.plan for each in together.findings] == [each.plan for each in alone.findings]
    assert [done for done, _ in progress] == list(range(alone.plans + 1))


def test_too_many_plans_leave_out_the_last_of_each_fault_and_the_report_counts_them() -> None:
    report = explore(b15_two_secrets.case(repaired=True), plans_max=5)
    assert (report.plans, report.skipped) == (5, sum(report.left_out.values()))
    first_line = str(report).splitlines()[0]
    assert f"{report.skipped} not run (" in first_line
    assert f"{report.left_out['crash-after']} crash-after" in first_line


def test_each_fault_gets_its_share_of_the_plans() -> None:
    at = [WriteId("operator", "create", "secrets", "default", f"s-{number}", 1) for number in range(4)]
    plans = [*(PlannedFault("crash-after", each) for each in at), *(PlannedFault("refused", each) for each in at[:2])]
    assert bounded(plans, 3) == [plans[0], plans[1], plans[4]]
    assert bounded(plans, 10) == plans
