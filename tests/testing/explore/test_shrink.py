"""Shrinking of a finding to the changes of the user that it needs."""

import logging
from pathlib import Path

import pytest
from click.testing import CliRunner

from sampan.cli.test_server.explore import explore_command
from sampan.testing import Cluster
from sampan.testing.explore import Finding, ReplayError, explore, read_replay, replay, scenario, shrink
from tests.testing.bugs import b15_two_secrets
from tests.testing.bugs.store import CRD, config_map, store

BUG = b15_two_secrets.case(repaired=False)


@scenario(BUG.operator, crds=[CRD])
async def long_story(cluster: Cluster) -> None:
    await cluster.apply(config_map("before", {"a": "1"}))
    await cluster.settled()
    await cluster.apply(store())
    await cluster.settled()
    await cluster.patch("cm/before", {"data": {"a": "2"}})
    await cluster.settled()
    await cluster.apply(config_map("after"))
    await cluster.delete("cm/after")


@pytest.fixture(scope="module")
def finding() -> Finding:
    (found, *_) = explore(long_story, first_only=True).findings
    return found


@pytest.fixture(scope="module")
def small(finding: Finding) -> Finding:
    return shrink(long_story, finding)


def test_only_the_changes_that_a_finding_needs_remain(small: Finding) -> None:
    assert [each for each in small.reference.story if "configmaps" in each] == []
    assert len(small.plan.without) == 4


def test_a_smaller_finding_has_the_fault_and_the_difference_of_the_first_one(finding: Finding, small: Finding) -> None:
    assert (small.plan.fault, small.plan.at, small.differences) == (
        finding.plan.fault,
        finding.plan.at,
        finding.differences,
    )


def test_a_replay_file_has_the_changes_that_are_left_out(small: Finding) -> None:
    name, plan = read_replay(small.replay)
    assert (name, plan) == ("long_story", small.plan)
    assert replay(long_story, plan) is not None


def test_the_command_shrinks_its_findings(tmp_path: Path) -> None:
    file = tmp_path / "scenarios.py"
    file.write_text("from tests.testing.explore.test_shrink import long_story\n")
    found = CliRunner().invoke(explore_command, [str(file), "--first", "--shrink"], standalone_mode=False)
    logging.disable(logging.NOTSET)
    assert found.return_value == 1
    assert "by operator, without delete configmaps after by test, " in found.output


def test_a_finding_that_needs_all_changes_stays_as_it_is() -> None:
    (found, *_) = explore(BUG, first_only=True).findings
    assert shrink(BUG, found) is found


def test_a_replay_file_with_a_wrong_list_is_refused(finding: Finding) -> None:
    with pytest.raises(ReplayError, match="without: 'x' is not a list of writes"):
        read_replay(finding.replay + "without: x\n")
