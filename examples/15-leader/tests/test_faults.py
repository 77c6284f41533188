"""No single fault changes the end of a captain's life, and none lets two Pods lead at once."""

import os
from typing import Literal

import pytest
from sampan.resource import ObjectMeta
from sampan.testing import Cluster, field, has_condition, is_gone
from sampan.testing.explore import Scenario, State, explore, scenario
from test_captain import LABELS, pod, set_ready

from captains.captain.reconcile import set_up
from captains.captain.term import epoch_of, is_labelled
from captains.captain.v1 import Captain, CaptainSpec

PLANS = int(os.environ.get("SAMPAN_PLANS", "400"))
LEASE_S = 120
"""A long time: each renewal of the Lease has its own faults."""


def captain(publish: Literal["label", "service", "file"] = "label") -> Captain:
    spec = CaptainSpec(selector=LABELS, lease_seconds=LEASE_S, publish=publish)
    return Captain(metadata=ObjectMeta(name="harbour"), spec=spec)


def one_leads(state: State) -> str | None:
    """At most one Pod has the label."""
    leaders = sum(map(is_labelled, state.list("Pod")))
    return f"{leaders} Pods are labelled at once" if leaders > 1 else None


def epochs_grow(state: State) -> str | None:
    """The epoch of a Pod, and that of the Lease, never become lower."""
    before, after = state.before or {}, state.after or {}
    if before.get("kind") == after.get("kind") == "Pod" and epoch_of(before) > epoch_of(after):
        return "the epoch of a Pod became lower"
    if before.get("kind") == after.get("kind") == "Lease" and transitions(before) > transitions(after):
        return "the epoch of the Lease became lower"
    return None


def transitions(lease: dict[str, object]) -> int:
    spec = lease.get("spec")
    return int(spec["leaseTransitions"]) if isinstance(spec, dict) else 0


CHECKS = [one_leads, epochs_grow]


async def pods(cluster: Cluster) -> None:
    """Create two ready Pods."""
    for name in ("a", "b"):
        await cluster.create(pod(name))
        await set_ready(cluster, name, "True")


@scenario(set_up, crds=[Captain], checks=CHECKS)
async def replaced(cluster: Cluster) -> None:
    """The leader is deleted, and another Pod comes."""
    await pods(cluster)
    await cluster.apply(captain())
    await cluster.eventually("captains/harbour", has_condition("Ready"))
    await cluster.delete("pod/a")
    await cluster.settled()
    await cluster.create(pod("c"))
    await set_ready(cluster, "c", "True")


@scenario(set_up, crds=[Captain], checks=CHECKS)
async def not_ready(cluster: Cluster) -> None:
    """The leader is not ready for longer than the lease."""
    await pods(cluster)
    await cluster.apply(captain())
    await cluster.eventually("captains/harbour", has_condition("Ready"))
    await set_ready(cluster, "a", "False")
    # A restart of the operator begins the measurement of the lease again.
    await cluster.eventually("captains/harbour", field(".status.leader") == "b", within=4 * LEASE_S)
    await set_ready(cluster, "a", "True")


@scenario(set_up, crds=[Captain], checks=CHECKS)
async def published(cluster: Cluster) -> None:
    """The way of publication changes; then the captain is deleted."""
    await pods(cluster)
    await cluster.apply(captain("service"))
    await cluster.settled()
    await cluster.apply(captain("file"))
    await cluster.settled()
    await cluster.delete("captains/harbour")


@scenario(set_up, crds=[Captain], checks=CHECKS)
async def made_again(cluster: Cluster) -> None:
    """A captain is deleted, and one with the same name comes."""
    await pods(cluster)
    await cluster.apply(captain())
    await cluster.eventually("captains/harbour", has_condition("Ready"))
    await cluster.delete("captains/harbour")
    await cluster.eventually("captains/harbour", is_gone())
    await cluster.apply(captain())
    await cluster.eventually("captains/harbour", has_condition("Ready"))


STORIES = [replaced, not_ready, published, made_again]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_no_fault_changes_the_end(story: Scenario) -> None:
    report = explore(story, plans_max=PLANS, seed=7)
    assert not report.findings, report
