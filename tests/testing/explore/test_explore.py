"""Exploration: it finds bugs of real operators without hints, and is silent on their repairs."""

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from sampan.cli.test_server.explore import explore_command
from sampan.testing.explore import Plan, PlanError, Scenario, WriteId, explore, read_replay, replay, replay_text
from sampan.testing.explore.outcome import Outcome, differences
from sampan.testing.explore.plan import CRASH_AFTER, HIDDEN, STALE
from tests.testing.bugs import (
    b01_deleted_by_name,
    b02_deleted_by_label,
    b04_claim_of_ending_pod,
    b05_size_differs,
    b06_budget_flaps,
    b07_feature_off,
    b08_absent_store,
    b09_shut_down,
    b10_edge_triggered,
    b11_refused_size,
    b12_steps_of_one,
    b13_claims_left,
    b14_phase_in_memory,
    b15_two_secrets,
    b16_config_changed,
    b17_two_statuses,
    b18_resize,
)

GUIDE = Path(__file__).parents[3] / "docs" / "exploring-faults.md"
Case = Callable[..., Scenario]
BUGS = [
    (b01_deleted_by_name.case, STALE),
    (b02_deleted_by_label.case, STALE),
    (b04_claim_of_ending_pod.case, STALE),
    (b05_size_differs.case, STALE),
    (b06_budget_flaps.case, STALE),
    (b07_feature_off.case, STALE),
    (b08_absent_store.case, STALE),
    (b09_shut_down.case, STALE),
    (b10_edge_triggered.case, HIDDEN),
    (b11_refused_size.case, HIDDEN),
    (b12_steps_of_one.case, HIDDEN),
    (b13_claims_left.case, HIDDEN),
    (b14_phase_in_memory.case, CRASH_AFTER),
    (b15_two_secrets.case, CRASH_AFTER),
    (b16_config_changed.case, CRASH_AFTER),
    (b17_two_statuses.case, CRASH_AFTER),
    (b18_resize.case, CRASH_AFTER),
]
MODULE = """
from tests.testing.bugs.b15_two_secrets import case
bug = case(repaired={repaired})
"""


@pytest.mark.parametrize(("case", "fault"), BUGS, ids=[case.__module__[-20:] for case, _ in BUGS])
def test_a_bug_is_found_and_its_repair_ends_well_under_the_same_fault(case: Case, fault: str) -> None:
    (finding,) = explore(case(repaired=False), first_only=True).findings
    assert finding.plan.fault == fault
    assert replay(case(repaired=True), finding.plan) is None


@pytest.mark.parametrize("case", [b07_feature_off.case, b15_two_secrets.case])
def test_no_fault_changes_the_end_of_a_repaired_operator(case: Case) -> None:
    report = explore(case(repaired=True))
    assert (report.findings, report.missed, report.plans >= 10) == ([], 0, True)


def test_a_finding_shows_both_runs_side_by_side() -> None:
    (finding,) = explore(b15_two_secrets.case(repaired=False), first_only=True).findings
    lines = str(finding).splitlines()
    assert lines[0] == "two_secrets: the operator crashes after create secrets ssl by operator"
    assert lines[1] == "  secrets/default/ssl-internal: missing"
    assert lines[2].split() == ["without", "the", "fault", "with", "it"]
    assert lines[-1].strip() == "created secrets/default/ssl-internal"


def outcome(value: str) -> Outcome:
    """Return the end of a run with one Secret."""
    return Outcome({"/registry/secrets/default/a": {"data": {"password": value}}}, {}, {}, (), "", (), ())


def test_values_of_secrets_are_not_shown() -> None:
    lines = differences(outcome("b2xk"), outcome("bmV3"), frozenset(), counts=True)
    assert lines == ["secrets/default/a.data.password: *** instead of another value"]


WRITE = WriteId("operator", "create", "secrets", "default", "ssl", 1)


@pytest.mark.parametrize("plan", [Plan(CRASH_AFTER, WRITE), Plan(STALE, WRITE, WRITE)])
def test_a_replay_file_has_the_whole_plan(plan: Plan) -> None:
    assert read_replay(replay_text("s", plan)) == ("s", plan)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("version: 1", "version: 2"), "replay files have version: 1, not 2: explore again to get a new file"),
        (("fault: crash-after", "fault: x"), "fault: 'x' is unknown: use one of crash-before, "),
        (("occurrence: 1", "occurrence: 0"), "at.occurrence: 0 is not a positive number"),
        (("  verb: create\n", ""), "at: needs exactly the keys actor, verb, "),
        (("fault: crash-after", "fault: stale"), "until: needed for fault stale"),
    ],
)
def test_a_wrong_replay_file_is_an_error_that_says_what_to_change(change: tuple[str, str], message: str) -> None:
    with pytest.raises(PlanError) as caught:
        read_replay(replay_text("s", Plan(CRASH_AFTER, WRITE)).replace(*change))
    assert str(caught.value).startswith(message)


def test_a_fault_that_never_occurs_is_an_error() -> None:
    never = Plan(CRASH_AFTER, WriteId("operator", "create", "secrets", "default", "other", 1))
    with pytest.raises(LookupError, match="the fault never occurred"):
        replay(b15_two_secrets.case(repaired=False), never)


@pytest.mark.usefixtures("loud_logging")
def test_the_example_of_the_documentation_has_the_finding_that_it_shows(tmp_path: Path) -> None:
    text = GUIDE.read_text()
    file = tmp_path / "scenarios.py"
    file.write_text(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0])
    found = CliRunner().invoke(explore_command, [str(file), "--first"], standalone_mode=False)
    assert "\n".join(found.output.splitlines()[2:4]) in text.replace("\n    ", "\n")


@pytest.fixture
def loud_logging() -> Iterator[None]:
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.usefixtures("loud_logging")
def test_the_command_saves_a_finding_and_replays_it_on_the_repair(tmp_path: Path) -> None:
    broken, repaired = tmp_path / "broken.py", tmp_path / "repaired.py"
    broken.write_text(MODULE.format(repaired=False))
    repaired.write_text(MODULE.format(repaired=True))
    runner = CliRunner()
    found = runner.invoke(explore_command, [str(broken), "--first", "--save", str(tmp_path)], standalone_mode=False)
    saved = tmp_path / "two_secrets-1.yaml"
    assert (found.return_value, found.output.splitlines()[-1]) == (1, f"saved {saved}")
    again = runner.invoke(explore_command, [str(repaired), "--replay", str(saved)], standalone_mode=False)
    assert (again.return_value, again.output) == (
        0,
        "two_secrets: ends as without a fault, although the operator crashes after create secrets ssl by operator\n",
    )
