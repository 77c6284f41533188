"""Tests of preemption: victims and the choice of the Node."""

from typing import Any

import numpy as np
import pytest

from sampan.scheduler.framework.framework import Framework
from sampan.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from sampan.scheduler.plugins.node_ports import NodePorts
from sampan.scheduler.plugins.node_resources_fit import NodeResourcesFit
from sampan.scheduler.plugins.pod_topology_spread import PodTopologySpread
from sampan.scheduler.plugins.taint_toleration import TaintToleration
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.preemption.budgets import DisruptionBudget, read_budget, split_by_violation
from sampan.scheduler.preemption.candidate import Candidate, best_candidate
from sampan.scheduler.preemption.dry_run import NO_VICTIMS, DryRun
from tests.scheduler.frame import Board, DefaultSelectors
from tests.scheduler.objects import node, pod


def candidate(name: str, *priorities: int, violations: int = 0, started: str = "2026-01-01") -> Candidate:
    victims = tuple(
        pod(f"{name}-{number}", priority=priority, status={"startTime": started})
        for number, priority in enumerate(priorities)
    )
    return Candidate(name, victims, violations)


BETTER = {
    "fewer violations": (candidate("good", 9, 9), candidate("bad", 1, violations=1)),
    "a lower highest priority": (candidate("good", 1, 1, 1), candidate("bad", 2)),
    "a lower sum of priorities": (candidate("good", 5, 1), candidate("bad", 5, 2)),
    "fewer of a negative priority": (candidate("good", -5), candidate("bad", -5, -5)),
    "a later start": (candidate("good", 1, started="2026-01-02"), candidate("bad", 1, started="2026-01-01")),
}


@pytest.mark.parametrize(("good", "bad"), BETTER.values(), ids=BETTER)
def test_the_cheapest_candidate_is_best(good: Candidate, bad: Candidate) -> None:
    assert best_candidate([bad, good]) is good
    assert best_candidate([good, bad]) is good


def budget(allowed: int, **more: Any) -> DisruptionBudget:
    obj: Any = {
        "metadata": {"namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": allowed, **more},
    }
    return read_budget(obj)


def test_budgets_protect_pods_beyond_the_allowed_disruptions() -> None:
    pods = [pod(name, labels={"app": "web"}) for name in ("a", "b")] + [pod("c")]
    violating, rest = split_by_violation(pods, [budget(1)])
    assert ([each.name for each in violating], [each.name for each in rest]) == (["b"], ["a", "c"])


def test_already_disrupted_pods_violate_no_budget() -> None:
    violating, _ = split_by_violation([pod("a", labels={"app": "web"})], [budget(0, disruptedPods={"a": "now"})])
    assert violating == []


def dry_run(pods: list[PodInfo], desired: PodInfo, *budgets: DisruptionBudget, **spec: Any) -> Any:
    """Return the names of the victims on the Node `n`, or the reasons against it."""
    board = Board([node("n", **spec)], pods)
    filters = Framework(
        [TaintToleration(), NodePorts(), NodeResourcesFit(), PodTopologySpread(DefaultSelectors()), InterPodAffinity()],
        {},
    )
    cycle = board.cycle(desired)
    assert not filters.feasible(cycle).any()
    row = int(np.flatnonzero(board.cache.nodes.alive)[0])
    found = DryRun(cycle, filters, budgets).on(row, ())
    return [victim.name for victim in found.victims] if isinstance(found, Candidate) else list(found)


def on_node(name: str, cpu: str, priority: int = 0, **more: Any) -> PodInfo:
    return pod(name, on="n", requests={"cpu": cpu}, priority=priority, **more)


def test_the_least_important_sufficient_pods_are_victims() -> None:
    pods = [on_node("a", "1", 1), on_node("b", "1", 2), on_node("c", "1", 3)]
    assert dry_run(pods, pod("p", requests={"cpu": "2"}, priority=10), cpu="3") == ["b", "a"]


def test_pods_of_the_same_priority_are_not_victims() -> None:
    desired = pod("p", requests={"cpu": "1"}, priority=5)
    assert dry_run([on_node("a", "1", 5)], desired, cpu="1") == [NO_VICTIMS]


def test_reasons_are_returned_if_even_an_empty_node_does_not_fit() -> None:
    desired = pod("p", requests={"cpu": "2"}, priority=5)
    assert dry_run([on_node("a", "1")], desired, cpu="1") == ["Insufficient cpu"]


def test_protected_pods_are_the_last_victims() -> None:
    pods = [on_node("protected", "1", labels={"app": "web"}), on_node("other", "1")]
    assert dry_run(pods, pod("p", requests={"cpu": "1"}, priority=5), budget(0), cpu="2") == ["other"]


def test_a_pod_that_uses_the_port_is_a_victim() -> None:
    port = [{"containerPort": 80, "hostPort": 80}]
    pods = [pod("web", on="n", ports=port), pod("other", on="n")]
    assert dry_run(pods, pod("p", ports=port, priority=5)) == ["web"]


def affinity(app: str) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def test_a_pod_violating_anti_affinity_is_a_victim() -> None:
    pods = [pod("db", on="n", labels={"app": "db"}), pod("other", on="n")]
    assert dry_run(pods, pod("p", affinity=affinity("db"), priority=5)) == ["db"]


def test_a_pod_with_anti_affinity_against_the_pod_is_a_victim() -> None:
    pods = [pod("lonely", on="n", affinity=affinity("web")), pod("other", on="n")]
    assert dry_run(pods, pod("p", labels={"app": "web"}, priority=5)) == ["lonely"]
