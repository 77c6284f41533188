"""Campaigns: they find bugs of updates without hints, and are silent on a right operator."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sampan.testing.campaign import BaseFailed, Campaign, run_campaign
from sampan.testing.generated import build_object
from tests.testing.generated.harbours import CRD, HARBOUR, LEFT_OVER, ONCE, RIGHT, STUCK, operator


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def campaign(behaviour: str, **options: Any) -> Campaign:
    return Campaign(operator(behaviour), HARBOUR, crds=[CRD], **options)


def test_a_right_operator_has_no_finding() -> None:
    report = run_campaign(campaign(RIGHT))
    assert not report.findings, report
    assert report.fields == [
        "spec.berths",
        "spec.berths[0].name",
        "spec.berths[0].length",
        "spec.mode",
        "spec.motto",
        "spec.depth",
        "spec.lights",
        "spec.place",
    ]
    assert report.changes >= 2 * len(report.fields) - 2


def test_a_field_that_is_ignored_after_the_creation_is_found() -> None:
    report = run_campaign(campaign(ONCE))
    assert {(each.change.field, each.oracle) for each in report.findings} == {("spec.depth", "change")}
    lines = str(report.findings[0]).splitlines()
    assert lines[0].startswith("spec.depth: 4 -> ")
    assert lines[2].strip().startswith("configmaps/default/west.data.depth: '4' instead of ")


def test_an_operator_that_does_not_recover_from_its_error_is_found() -> None:
    report = run_campaign(campaign(STUCK), fields=["spec.motto"])
    (recovery,) = [each for each in report.findings if each.oracle == "recovery"]
    assert recovery.failure.startswith("failed")
    assert "harbours/default/west.status.phase: 'Failed' instead of 'Ready'" in recovery.differences[0]
    assert [str(each).partition(":")[0] for each in report.failed] == ["spec.motto"]


def test_an_error_state_that_ends_with_the_good_value_is_no_finding() -> None:
    report = run_campaign(campaign(RIGHT), fields=["spec.motto"])
    assert (len(report.failed), report.findings) == (1, [])


def test_an_object_left_over_after_a_change_is_found() -> None:
    report = run_campaign(campaign(LEFT_OVER), fields=["spec.lights"])
    assert report.findings[0].differences == ["configmaps/default/lights: left over"]


def test_a_right_difference_is_ignored() -> None:
    ignored = ["configmaps/default/lights"]
    assert run_campaign(campaign(LEFT_OVER, ignored=ignored), fields=["spec.lights"]).findings == []


def test_a_change_that_the_server_refuses_is_noted() -> None:
    report = run_campaign(campaign(RIGHT), fields=["spec.place"])
    assert report.changes > 0
    assert any("is immutable" in why for why in report.refused.values())


def test_a_field_without_effect_is_named() -> None:
    async def idle() -> None:
        return

    quiet = replace(campaign(RIGHT), operator=idle)
    assert run_campaign(quiet, fields=["spec.depth"]).without_effect == ["spec.depth"]


def test_values_of_the_test_are_tried_too() -> None:
    report = run_campaign(
        campaign(RIGHT, values={"spec.motto": ["no-such-value!"]}), fields=["spec.motto"], values_max=0
    )
    assert (report.changes, len(report.failed)) == (1, 1)


def test_equal_seeds_make_equal_changes() -> None:
    def findings(seed: int) -> list[str]:
        return [str(each.change) for each in run_campaign(campaign(ONCE), fields=["spec.depth"], seed=seed).findings]

    assert findings(1) == findings(1)


def test_an_unchanged_field_stays() -> None:
    report = run_campaign(campaign(RIGHT, unchanged=["spec.berths"]), values_max=1, first_only=True)
    assert "spec.berths[0].name" not in report.fields


def test_progress_is_reported_until_the_end() -> None:
    seen: list[tuple[int, int]] = []
    run_campaign(campaign(RIGHT), fields=["spec.depth"], progress=lambda done, of: seen.append((done, of)))
    assert seen[0][0] == 0
    assert seen[-1][0] == seen[-1][1] == len(seen) - 1


def test_an_object_that_fails_before_any_change_is_an_error() -> None:
    bad = {**HARBOUR, "spec": {**HARBOUR["spec"], "motto": "no-such-value!"}}
    with pytest.raises(
        BaseFailed, match="the object fails before any change: operator: reconcile of default/west by harbour raised"
    ):
        run_campaign(replace(campaign(RIGHT), base=bad))


def test_a_crd_gives_an_object_with_all_fields() -> None:
    first = replace(campaign(RIGHT), base=CRD).first()
    assert set(first["spec"]) == {"berths", "mode", "motto", "depth", "lights", "place"}


def test_a_built_in_kind_can_be_changed() -> None:
    async def idle() -> None:
        return

    made = Campaign(idle, "ConfigMap")
    assert run_campaign(made).findings == []


def test_the_history_of_a_deployment_is_not_compared() -> None:
    async def idle() -> None:
        return

    web = build_object("Deployment", "web", spec={"replicas": 2})
    made = Campaign(idle, web, loops="chain", values={"spec.template.spec.containers[0].image": ["web:2"]})
    report = run_campaign(made, fields=["spec.template.spec.containers[0].image"], values_max=0)
    assert (report.changes, report.findings, report.without_effect) == (1, [], [])
