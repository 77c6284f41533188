"""No single fault changes what the operator of the example does in the end: a sample of the faults, or all of them.

    SAMPAN_PLANS=300 pytest tests/examples/network/test_faults.py --timeout=0

The replay files have the faults that it once did not survive.
"""

import os
from pathlib import Path

import pytest

from sampan.testing.explore import Scenario, explore, read_replay, replay
from tests.examples.network import stories

PLANS = int(os.environ.get("SAMPAN_PLANS", "8"))
STORIES = [stories.changed, stories.deleted, stories.made_again]
REPLAYS = sorted(Path(__file__).with_name("replays").glob("*.yaml"))


@pytest.mark.parametrize("story", STORIES, ids=[story.name for story in STORIES])
def test_a_network_ends_as_without_a_fault(story: Scenario) -> None:
    report = explore(story, plans_max=PLANS, seed=7)
    assert not report.findings, report


@pytest.mark.parametrize("file", REPLAYS, ids=[file.stem for file in REPLAYS])
def test_a_fault_that_once_changed_the_end_is_survived(file: Path) -> None:
    name, plan = read_replay(file.read_text())
    assert replay(getattr(stories, name), plan) is None
