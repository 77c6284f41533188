"""No single fault changes what the built-in loops do in the end: a sample of the faults, or all of them.

    SAMPAN_PLANS=3000 pytest tests/testing/own_loops

The whole takes about 4 minutes of processor time for 1,006 plans.
"""

import os

import pytest

from sampan.testing.explore import Scenario, explore
from tests.testing.own_loops import stories

PLANS = int(os.environ.get("SAMPAN_PLANS", "10"))
CLEAN = [
    stories.cron_job,
    stories.daemon_set,
    stories.garbage,
    stories.garbage_again,
    stories.namespace,
    stories.quota,
    stories.recreate,
    stories.replica_set,
]


@pytest.mark.parametrize("story", CLEAN, ids=[story.name for story in CLEAN])
def test_a_loop_ends_as_without_a_fault(story: Scenario) -> None:
    report = explore(story, plans_max=PLANS, seed=7)
    assert not report.findings, report
