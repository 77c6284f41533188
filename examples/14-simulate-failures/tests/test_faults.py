"""No single fault makes a storm larger or lets a fault stay: crashes, lost responses, old views."""

import os
from typing import Any

import pytest
from sampan.testing import Cluster, field
from sampan.testing.explore import Scenario, State, explore, scenario
from test_storm import ALLOWED, storm

from storms.storm.reconcile import set_up
from storms.storm.v1 import Hypothesis, Storm

PLANS = int(os.environ.get("SAMPAN_PLANS", "400"))
WINDOW_S = 120
FUSES = ["networkpolicies/default/storm-", "jobs/default/storm-"]
"""The cluster deletes them, and not the operator."""


def budget_rule(state: State) -> str | None:
    """A storm has at most as many victims as it may, and a victim is one for ever."""
    before, after = state.before or {}, state.after or {}
    if after.get("kind") != "Storm":
        return None
    hit, was = victims(after), victims(before)
    if len(hit) > after["spec"].get("max", 1):
        return f"{len(hit)} victims"
    return "a storm has other victims" if was and was != hit else None


def victims(found: dict[str, object]) -> list[object]:
    status = found.get("status")
    return [each["uid"] for each in status.get("victims", [])] if isinstance(status, dict) else []


async def calm(cluster: Cluster) -> None:
    """Two Pods that may be hit, and one that serves, in a namespace that permits storms."""
    await cluster.patch("namespace/default", {"metadata": {"labels": ALLOWED}})
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    for name, app in (("a", "web"), ("b", "web"), ("c", "front")):
        spec = {"containers": [{"name": "main", "image": "web"}]}
        metadata = {"name": name, "labels": {"app": app}}
        await cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
        await cluster.patch(f"pod/{name}", ready, subresource="status")


def of(name: str = "example", **fields: Any) -> Storm:
    """Return a storm that lasts longer than any fault. Its hypothesis is about a Pod that it does not hit."""
    return storm(name, window_seconds=WINDOW_S, hypothesis=Hypothesis(selector={"app": "front"}, min_ready=1), **fields)


@scenario(set_up, crds=[Storm], checks=[budget_rule])
async def killed(cluster: Cluster) -> None:
    """A storm kills two Pods."""
    await calm(cluster)
    await cluster.apply(of(max=2))
    await cluster.advance(seconds=1.5 * WINDOW_S)


@scenario(set_up, crds=[Storm], checks=[budget_rule], allowed=FUSES)
async def isolated(cluster: Cluster) -> None:
    """A storm isolates two Pods, ends, and is deleted later."""
    await calm(cluster)
    await cluster.apply(of(actions=["isolate"], max=2))
    await cluster.eventually("storms/example", field(".status.phase") == "Passed", within=2 * WINDOW_S)
    await cluster.delete("storms/example")
    await cluster.advance(seconds=30)


@scenario(set_up, crds=[Storm], checks=[budget_rule], allowed=FUSES)
async def ended_early(cluster: Cluster) -> None:
    """A storm is deleted while it lasts."""
    await calm(cluster)
    await cluster.apply(of(actions=["isolate"], max=2))
    await cluster.eventually("storms/example", field(".status.victims[0].state") == "Hit")
    await cluster.delete("storms/example")
    await cluster.advance(seconds=30)


@scenario(set_up, crds=[Storm], checks=[budget_rule])
async def two(cluster: Cluster) -> None:
    """Two storms come one after the other."""
    await calm(cluster)
    await cluster.apply(of("one"))
    await cluster.eventually("storms/one", field(".status.phase") == "Running")
    await cluster.apply(of("two"))
    await cluster.advance(seconds=4 * WINDOW_S)


STORIES = [killed, isolated, ended_early, two]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_no_fault_changes_the_end(story: Scenario) -> None:
    report = explore(story, plans_max=PLANS, seed=7)
    assert not report.findings, report
