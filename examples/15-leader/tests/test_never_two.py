"""Never two leaders: an operator that stops at the worst moment, and random runs.

`CAPTAIN_RUNS=10000 pytest tests/test_never_two.py` tries ten thousand runs.
"""

import asyncio
import os

import pytest
from planted import BUGS, Bug
from sampan.client import HttpResponse
from sampan.testing import Cluster, SentRequest
from sampan.testing.journal import JournalEntry
from sampan.testing.requests import Proceed
from test_captain import CAPTAIN, leaders, pod, set_ready
from world import LEASE_S, RUNS, outcome_of

from captains.captain.reconcile import set_up
from captains.captain.term import is_labelled
from captains.captain.v1 import Captain

WORLDS = range(int(os.environ.get("CAPTAIN_RUNS", "20")) // RUNS)


@pytest.mark.parametrize("moment", ["list", "label"])
async def test_a_late_operator_never_labels_a_second_pod(cluster: Cluster, moment: str) -> None:
    """It elects `a`, stops before it lists the Pods or labels `a`, and continues when `b` leads."""
    elected, woken, most = asyncio.Event(), asyncio.Event(), [0]
    labelled: set[str] = set()

    async def through(sent: SentRequest, proceed: Proceed) -> HttpResponse:
        if sent.actor != "late" or woken.is_set():
            return await proceed()
        labels = b'"role":"leader"' in sent.request.body
        if elected.is_set() and sent.info.resource == "pods" and (moment == "list" or labels):
            await woken.wait()
        response = await proceed()
        if sent.info.resource == "leases" and sent.info.verb == "update":
            await set_ready(cluster, "a", "False")
            elected.set()
        return response

    def saw(write: JournalEntry) -> None:
        if write.key.startswith("/registry/pods/"):
            after = write.after
            (labelled.add if after is not None and is_labelled(after) else labelled.discard)(write.key)
            most[0] = max(most[0], len(labelled))

    await cluster.crds(Captain)
    cluster.journal.listen(saw)
    cluster.interceptors.append(through)
    for name in ("a", "b"):
        await cluster.create(pod(name))
        await set_ready(cluster, name, "True")
    await cluster.apply(CAPTAIN)
    cluster.run(set_up, name="late")
    await elected.wait()
    cluster.run(set_up, name="quick")
    await cluster.advance(seconds=3 * LEASE_S)
    assert await leaders(cluster) == ["b"]
    woken.set()
    await cluster.advance(seconds=3 * LEASE_S)
    assert await leaders(cluster) == ["b"]
    assert most == [1]


@pytest.mark.explore
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_random_runs_find_a_planted_bug(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    bug(monkeypatch)
    assert any(outcome_of(seed).faults for seed in range(1, 300 // RUNS))


@pytest.mark.explore
@pytest.mark.parametrize("seed", WORLDS)
def test_never_two_pods_are_labelled_at_once(seed: int) -> None:
    assert outcome_of(seed).faults == []
