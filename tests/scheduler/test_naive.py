"""Tests that array results equal those of a naive implementation, after any history of changes."""

import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.core.pods.tolerations import untolerated
from sampan.scheduler.framework.plugin import Plugin
from sampan.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from sampan.scheduler.plugins.node_affinity import NodeAffinity
from sampan.scheduler.plugins.node_match import matches_required
from sampan.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from sampan.scheduler.plugins.node_resources_fit import NodeResourcesFit
from sampan.scheduler.plugins.pod_topology_spread import PodTopologySpread
from sampan.scheduler.plugins.taint_toleration import TaintToleration
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.views import Node
from tests.properties import examples
from tests.scheduler.frame import Board, DefaultSelectors
from tests.scheduler.objects import node, pod

ZONE = "zone"
_APPS = ("web", "db")
_TERM = st.builds(
    lambda app, key: {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key},
    st.sampled_from(_APPS),
    st.sampled_from((ZONE, "kubernetes.io/hostname")),
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@st.composite
def nodes(draw: Any) -> list[Node]:
    found = []
    for number in range(draw(st.integers(1, 6))):
        labels = draw(st.dictionaries(st.just(ZONE), st.sampled_from(("1", "2", "3"))))
        taints = draw(st.lists(st.sampled_from(("NoSchedule", "PreferNoSchedule")), max_size=2))
        found.append(
            node(
                f"n{number}",
                cpu=str(draw(st.integers(0, 4))),
                memory=f"{draw(st.integers(0, 4))}Gi",
                pods=draw(st.integers(1, 4)),
                labels=labels,
                taints=[{"key": "k", "effect": effect} for effect in taints],
            )
        )
    return found


@st.composite
def pods(draw: Any, name: str, on: str = "") -> PodInfo:
    spec: dict[str, Any] = {"labels": {"app": draw(st.sampled_from(_APPS))}}
    requests = draw(
        st.fixed_dictionaries({}, optional={"cpu": st.sampled_from(("500m", "1", "3")), "memory": st.just("1Gi")})
    )
    kinds = draw(st.fixed_dictionaries({}, optional={"podAffinity": _TERM, "podAntiAffinity": _TERM}))
    if kinds:
        spec["affinity"] = {kind: {_REQUIRED: [term]} for kind, term in kinds.items()}
    if draw(st.booleans()):
        spec["tolerations"] = [{"operator": "Exists"}]
    if draw(st.booleans()):
        spec["nodeSelector"] = {ZONE: draw(st.sampled_from(("1", "2")))}
    if draw(st.booleans()):
        selector = {"matchLabels": {"app": draw(st.sampled_from(_APPS))}}
        rule = {"maxSkew": draw(st.integers(1, 2)), "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
        spec["topologySpreadConstraints"] = [{**rule, "labelSelector": selector}]
    return pod(name, on=on, requests=requests, **spec)


class Naive:
    """A naive implementation that checks Nodes one by one."""

    def __init__(self, nodes: dict[str, Node], pods: dict[str, PodInfo]) -> None:
        self.nodes = nodes
        self.pods = [pod for pod in pods.values() if pod.node_name in nodes]

    def on(self, name: str) -> list[PodInfo]:
        return [pod for pod in self.pods if pod.node_name == name]

    def amounts(self, name: str, resource: str) -> tuple[int, int]:
        """Return allocatable and requested amounts."""
        quantity = str(self.nodes[name].status.allocatable[resource])
        allocatable = int(quantity) * 1000 if resource == "cpu" else int(quantity.removesuffix("Gi")) * 2**30
        return allocatable, sum(dict(pod.constraints.requests).get(resource, 0) for pod in self.on(name))

    def fits(self, pod: PodInfo, name: str) -> bool:
        if len(self.on(name)) + 1 > int(self.nodes[name].status.allocatable["pods"]):
            return False
        for resource, value in pod.constraints.requests:
            allocatable, requested = self.amounts(name, resource)
            if value > allocatable - requested:
                return False
        return True

    def left(self, pod: PodInfo, name: str) -> int:
        scores = []
        for place, resource in enumerate(("cpu", "memory")):
            allocatable, _ = self.amounts(name, resource)
            used = sum(other.constraints.nonzero[place] for other in self.on(name)) + pod.constraints.nonzero[place]
            if allocatable:
                scores.append(0 if used > allocatable else (allocatable - used) * 100 // allocatable)
        return sum(scores) // len(scores) if scores else 0

    def balance(self, name: str, received: dict[str, int]) -> int:
        shares = []
        for resource in ("cpu", "memory"):
            allocatable, requested = self.amounts(name, resource)
            if allocatable:
                shares.append(min((requested + received.get(resource, 0)) / allocatable, 1.0))
        deviation = abs((shares[0] - shares[1]) / 2) if len(shares) == 2 else 0.0
        return int((1 - deviation) * 100)

    def matching(self, app: str, key: str, value: str) -> int:
        """Count the Pods of an app in a domain."""
        return sum(
            pod.labels["app"] == app and self.nodes[pod.node_name].metadata.labels.get(key) == value
            for pod in self.pods
        )

    def affine(self, pod: PodInfo, name: str) -> bool:
        labels = self.nodes[name].metadata.labels
        for term in pod.constraints.affinity:
            app = str(term.selector.requires_exact("app"))
            if term.topology_key not in labels:
                return False
            anywhere = any(
                other.labels["app"] == app and term.topology_key in self.nodes[other.node_name].metadata.labels
                for other in self.pods
            )
            if not self.matching(app, term.topology_key, labels[term.topology_key]) and (
                anywhere or pod.labels["app"] != app
            ):
                return False
        for term in pod.constraints.anti_affinity:
            app = str(term.selector.requires_exact("app"))
            if term.topology_key in labels and self.matching(app, term.topology_key, labels[term.topology_key]):
                return False
        return not any(
            term.selector.matches(pod.labels)
            and term.topology_key in labels
            and self.nodes[other.node_name].metadata.labels.get(term.topology_key) == labels[term.topology_key]
            for other in self.pods
            for term in other.constraints.anti_affinity
        )

    def even(self, pod: PodInfo, name: str) -> bool:
        for rule in pod.constraints.spread:
            app = str(rule.selector.requires_exact("app"))
            counts: dict[str, int] = {}
            for other, found in self.nodes.items():
                zone = found.metadata.labels.get(rule.topology_key)
                if zone is not None and matches_required(pod.constraints, other, found.metadata.labels):
                    counts[zone] = counts.get(zone, 0) + sum(each.labels["app"] == app for each in self.on(other))
            zone = self.nodes[name].metadata.labels.get(rule.topology_key)
            if zone is None:
                return False
            least = min(counts.values(), default=math.inf)
            if counts.get(zone, 0) + (pod.labels["app"] == app) - least > rule.max_skew:
                return False
        return True


def board_and_naive(data: Any) -> tuple[Board, Naive, PodInfo]:
    """A cluster with a history: the arrays processed every step, the naive implementation only the result."""
    there = {each.metadata.name: each for each in data.draw(nodes())}
    board = Board(list(there.values()))
    placed: dict[str, PodInfo] = {}
    desired = data.draw(pods("wanted"))
    plugins: list[Plugin] = [
        NodeResourcesFit(),
        NodeResourcesBalancedAllocation(),
        InterPodAffinity(),
        PodTopologySpread(DefaultSelectors()),
    ]
    for number in range(data.draw(st.integers(0, 8))):
        # Results of queries in between are cached, and must be updated.
        for plugin in plugins:
            board.feasible(plugin, desired)
            board.scores(plugin, desired)
        name = f"p{number}"
        placed[name] = data.draw(pods(name, on=data.draw(st.sampled_from(sorted(there)))))
        board.cache.set_pod(placed[name])
        if data.draw(st.integers(0, 3)) == 0:
            gone = data.draw(st.sampled_from(sorted(placed)))
            del placed[gone]
            board.cache.remove_pod(gone)
    if len(there) > 1 and data.draw(st.booleans()):
        gone = data.draw(st.sampled_from(sorted(there)))
        del there[gone]
        board.cache.remove_node(gone)
    return board, Naive(there, placed), desired


@settings(max_examples=examples(100))
@given(data=st.data())
def test_array_filters_equal_filters_of_single_nodes(data: Any) -> None:
    board, naive, desired = board_and_naive(data)
    constraints = desired.constraints

    def those(holds: Any) -> set[str]:
        return {name for name in naive.nodes if holds(name)}

    assert board.feasible(NodeResourcesFit(), desired) == those(lambda name: naive.fits(desired, name))
    assert board.feasible(InterPodAffinity(), desired) == those(lambda name: naive.affine(desired, name))
    assert board.feasible(PodTopologySpread(DefaultSelectors()), desired) == those(
        lambda name: naive.even(desired, name)
    )
    assert board.feasible(TaintToleration(), desired) == those(
        lambda name: untolerated(constraints.tolerations, naive.nodes[name].spec.taints) is None
    )
    assert board.feasible(NodeAffinity(), desired) == those(
        lambda name: matches_required(constraints, name, naive.nodes[name].metadata.labels)
    )


@settings(max_examples=examples(100))
@given(data=st.data())
def test_array_scores_equal_scores_of_single_nodes(data: Any) -> None:
    board, naive, desired = board_and_naive(data)
    received = dict(desired.constraints.requests)
    left = board.scores(NodeResourcesFit(), desired)
    assert {name: left[name] for name in naive.nodes} == {name: naive.left(desired, name) for name in naive.nodes}
    if not received:
        return
    balance = board.scores(NodeResourcesBalancedAllocation(), desired)
    assert {name: balance[name] for name in naive.nodes} == {
        name: 50 + (50 + naive.balance(name, received) - naive.balance(name, {})) // 2 for name in naive.nodes
    }
