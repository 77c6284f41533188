"""Exploration: it finds bugs of real operators without hints, and is silent on their repairs."""

import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from sampan.cli.test_server.explore import explore_command
from sampan.testing.explore import (
    PlannedFault,
    ReplayError,
    Scenario,
    State,
    WriteId,
    explore,
    read_replay,
    replay,
    replay_text,
)
from sampan.testing.explore.explorer import ReferenceFailed
from sampan.testing.explore.outcome import Outcome, differences
from sampan.testing.explore.plan import (
    ABSENT,
    CANCELLED,
    CRASH_AFTER,
    DOWN,
    DRIFT_CHANGED,
    DRIFT_DELETED,
    HIDDEN,
    LOST_LEASE,
    SLOW,
    STALE,
    VANISHED,
)
from sampan.testing.explore.trial_run import run_trial
from sampan.testing.observations.values import masked
from tests.testing.bugs import (
    b01_deleted_by_name,
    b02_deleted_by_label,
    b03_ready_replicas,
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
    b19_ensured_after_the_end,
    b20_decommissioned,
    c01_backup_cut_short,
    c02_writes_without_lease,
    c03_unwatched_map,
    c04_two_networks,
    c05_absent_secret,
    c06_vanished_secret,
)

GUIDE = Path(__file__).parents[3] / "docs" / "exploring-faults.md"
Case = Callable[..., Scenario]
BUGS = [
    (b01_deleted_by_name.case, STALE),
    (b02_deleted_by_label.case, STALE),
    (b03_ready_replicas.case, STALE),
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
    (b19_ensured_after_the_end.case, SLOW),
    (b20_decommissioned.case, STALE),
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


@pytest.mark.parametrize(
    ("case", "faults"),
    [
        (c01_backup_cut_short.case, {CANCELLED}),
        (c02_writes_without_lease.case, {LOST_LEASE}),
        (c03_unwatched_map.case, {DRIFT_DELETED, DRIFT_CHANGED}),
        (c05_absent_secret.case, {ABSENT, VANISHED}),
        (c06_vanished_secret.case, {VANISHED}),
    ],
)
def test_a_bug_is_found_by_its_fault_only_and_no_fault_changes_the_repair(case: Case, faults: set[str]) -> None:
    assert {finding.plan.fault for finding in explore(case(repaired=False)).findings} == faults
    report = explore(case(repaired=True))
    assert (report.findings, report.missed) == ([], 0)


def test_a_call_of_an_external_system_is_repeated_after_its_response_is_lost() -> None:
    lost = [
        each for each in explore(c04_two_networks.case(repaired=False)).findings if each.plan.fault == "lost-response"
    ]
    (finding,) = (each for each in lost if each.plan.at.verb == "call")
    assert "external system.networks: ['s', 's'] instead of ['s']" in finding.differences
    assert explore(c04_two_networks.case(repaired=True)).findings == []


def test_an_operator_has_the_rights_of_the_roles_of_its_scenario() -> None:
    rules = [
        {"apiGroups": ["bugs.example.com"], "resources": ["stores"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]},
    ]
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "bugs"},
        "rules": rules,
    }
    scenario = replace(b15_two_secrets.case(repaired=True), rbac=[role])
    assert "/registry/secrets/default/ssl" not in run_trial(scenario).state
    rules[1]["verbs"] += ["create"]
    assert explore(scenario).findings == []


@pytest.mark.parametrize("case", [b07_feature_off.case, b15_two_secrets.case])
def test_no_fault_changes_the_end_of_a_repaired_operator(case: Case) -> None:
    report = explore(case(repaired=True))
    assert (report.findings, report.missed, report.plans >= 10) == ([], 0, True)


def test_an_operator_that_is_down_during_a_change_may_leave_its_work_half_done() -> None:
    findings = explore(b20_decommissioned.case(repaired=False)).findings
    down = next(finding.plan for finding in findings if finding.plan.fault == DOWN)
    assert replay(b20_decommissioned.case(repaired=True), down) is None


def test_an_operator_that_is_down_starts_again_without_the_next_change() -> None:
    create = next(each for each in run_trial(b15_two_secrets.case(repaired=True)).writes if each.actor == "operator")
    never = WriteId("test", "delete", "secrets", "default", "never", 1)
    outcome = run_trial(b15_two_secrets.case(repaired=True), PlannedFault(DOWN, create, never))
    assert (outcome.fired, outcome.error) == (True, "")
    assert "/registry/secrets/default/ssl-internal" in outcome.state


def no_claim_is_deleted_while_its_pod_may_run(state: State) -> str | None:
    """A rule for the states of B3, where ConfigMaps stand for claims."""
    name = (state.before or {}).get("metadata", {}).get("name", "")
    (desired,) = (each["spec"]["replicas"] for each in state.list("Store")) if state.list("Store") else (0,)
    if state.after is None and name.startswith("data-s-") and int(name[-1]) < desired:
        return f"{name} is deleted although the size is {desired}"
    return None


@pytest.mark.parametrize("repaired", [False, True])
def test_a_rule_for_all_states_is_checked_after_each_write(repaired: bool) -> None:
    case = b03_ready_replicas.case
    (finding,) = explore(case(repaired=False), first_only=True).findings
    ruled = replace(case(repaired=repaired), checks=[no_claim_is_deleted_while_its_pod_may_run])
    found = replay(ruled, finding.plan)
    rule = "data-s-1 is deleted although the size is 2 (after a write to configmaps/default/data-s-1)"
    assert (found.differences[0] if found else None) == (None if repaired else rule)


def test_a_rule_that_is_broken_without_a_fault_ends_the_exploration() -> None:
    ruled = replace(b15_two_secrets.case(repaired=True), checks=[lambda state: "wrong"])
    with pytest.raises(ReferenceFailed, match="two_secrets fails without a fault: wrong"):
        explore(ruled)


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


def test_the_order_of_conditions_is_not_compared() -> None:
    ready, stalled = {"type": "Ready", "status": "True"}, {"type": "Stalled", "status": "False"}
    assert masked({"conditions": [ready, stalled]}) == masked({"conditions": [stalled, ready]})


WRITE = WriteId("operator", "create", "secrets", "default", "ssl", 1)


@pytest.mark.parametrize("plan", [PlannedFault(CRASH_AFTER, WRITE), PlannedFault(STALE, WRITE, WRITE)])
def test_a_replay_file_has_the_whole_plan(plan: PlannedFault) -> None:
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
def test_a_wrong_replay_file_is_an_error_that_reports_what_to_change(change: tuple[str, str], message: str) -> None:
    with pytest.raises(ReplayError) as caught:
        read_replay(replay_text("s", PlannedFault(CRASH_AFTER, WRITE)).replace(*change))
    assert str(caught.value).startswith(message)


def test_a_fault_that_never_occurs_is_an_error() -> None:
    never = PlannedFault(CRASH_AFTER, WriteId("operator", "create", "secrets", "default", "other", 1))
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
