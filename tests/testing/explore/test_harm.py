"""Operators that harm their own objects on the way are found, although the state at the end looks right."""

import logging
from collections.abc import Callable, Iterator

import pytest

from sampan.testing import Cluster
from sampan.testing.campaign import BaseFailed, Campaign, run_campaign
from sampan.testing.explore import Report, Scenario, explore, scenario
from sampan.testing.explore.explorer import ReferenceFailed
from tests.testing.broken import harm, never_work
from tests.testing.broken.parts import ADA, Operator, controller

Case = Callable[..., Operator]
CRASH = "draws a password again after a crash"
"""Only a fault shows this one."""
REPAIRED = {name: case for name, (case, _) in {**never_work.CASES, **harm.CASES}.items()}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def _scenario(operator: Operator) -> Scenario:
    @scenario(operator)
    async def boats(cluster: Cluster) -> None:
        await cluster.apply(ADA)
        await cluster.settled()
        await cluster.apply({**ADA, "data": {"length": "50"}})

    return boats


def _campaign(operator: Operator) -> Campaign:
    return Campaign(operator, ADA, values={"data.length": ["41"]})


def _first_difference(operator: Operator) -> str:
    """Return the line that names the harm: of the reference, or of the first finding."""
    try:
        report: Report = explore(_scenario(operator), first_only=True)
    except ReferenceFailed as error:
        return str(error).splitlines()[0]
    return report.findings[0].differences[0] if report.findings else ""


@pytest.mark.parametrize(("case", "cause"), harm.CASES.values(), ids=harm.CASES)
def test_an_exploration_finds_the_harm(case: Case, cause: str) -> None:
    assert cause in _first_difference(case(repaired=False))


@pytest.mark.parametrize("name", [each for each in harm.CASES if each != CRASH])
def test_a_campaign_finds_the_harm(name: str) -> None:
    case, cause = harm.CASES[name]
    with pytest.raises(BaseFailed) as caught:
        run_campaign(_campaign(case(repaired=False)))
    assert cause in str(caught.value).splitlines()[0]


@pytest.mark.parametrize("name", REPAIRED)
def test_a_repaired_operator_has_no_finding(name: str) -> None:
    operator = REPAIRED[name](repaired=True)
    report = explore(_scenario(operator), plans_max=5, seed=0)
    assert (report.findings, report.plans > 0) == ([], True), report
    campaign = run_campaign(_campaign(operator))
    assert (campaign.findings, campaign.changes > 0) == ([], True), campaign


def test_a_value_that_only_changes_a_child_with_the_name_of_its_parent_has_an_effect() -> None:
    assert "data.length" not in run_campaign(_campaign(controller())).without_effect
