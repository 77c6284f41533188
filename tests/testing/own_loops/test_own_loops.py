"""No single fault changes what the built-in loops do in the end: a sample of the faults, or all of them.

    SAMPAN_PLANS=3000 pytest tests/testing/own_loops --timeout=0

The replay files have the faults that a loop once did not survive.
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sampan.testing.explore import Scenario, explore, read_replay, replay
from tests.testing.own_loops import stories

PLANS = int(os.environ.get("SAMPAN_PLANS", "7"))
CLEAN = [
    stories.cron_job,
    stories.daemon_set,
    stories.deployment,
    stories.garbage,
    stories.garbage_again,
    stories.job_done,
    stories.job_failed,
    stories.job_indexed,
    stories.namespace,
    stories.quota,
    stories.recreate,
    stories.replica_set,
    stories.stateful_set,
]
REPLAYS = sorted(Path(__file__).with_name("replays").glob("*.yaml"))


@pytest.mark.parametrize("story", CLEAN, ids=[story.name for story in CLEAN])
def test_a_loop_ends_as_without_a_fault(story: Scenario) -> None:
    report = explore(story, plans_max=PLANS, seed=7)
    assert not report.findings, report


@pytest.mark.parametrize("file", REPLAYS, ids=[file.stem for file in REPLAYS])
def test_a_fault_that_once_changed_the_end_is_survived(file: Path) -> None:
    name, plan = read_replay(file.read_text())
    assert replay(getattr(stories, name), plan) is None


def test_a_job_that_starts_from_an_old_list_creates_its_pods_again() -> None:
    """The reason for `FROM_THE_NEWEST_STATE`: without it, the fault of the replay file has another end."""
    name, plan = read_replay(
        Path(__file__).with_name("replays").joinpath("job-creates-counted-pods-again.yaml").read_text()
    )
    finding = replay(replace(getattr(stories, name), informers=None), plan)
    assert finding is not None
    assert "jobs/default/work.status.succeeded: 6 instead of 4" in finding.differences
