"""Tests of each plugin's filter and score."""

from typing import Any

import pytest

from sampan.core.label_selectors import selector_from_labels
from sampan.scheduler.plugins.image_locality import ImageLocality
from sampan.scheduler.plugins.inter_pod_affinity import InterPodAffinity
from sampan.scheduler.plugins.node_affinity import NodeAffinity
from sampan.scheduler.plugins.node_ports import NodePorts
from sampan.scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from sampan.scheduler.plugins.node_resources_fit import NodeResourcesFit
from sampan.scheduler.plugins.node_unschedulable import NodeUnschedulable
from sampan.scheduler.plugins.pod_topology_spread import PodTopologySpread
from sampan.scheduler.plugins.scheduling_gates import SchedulingGates
from sampan.scheduler.plugins.taint_toleration import TaintToleration
from tests.scheduler.frame import Board, DefaultSelectors
from tests.scheduler.objects import node, pod

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def taint(effect: str, value: str = "a") -> dict[str, str]:
    return {"key": "k", "value": value, "effect": effect}


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def near(term: dict[str, Any], kind: str = "podAffinity") -> dict[str, Any]:
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def term(app: str, key: str = HOST) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}


TOLERATIONS = {
    "none": ([], set()),
    "equal": ([{"key": "k", "operator": "Equal", "value": "a"}], {"a"}),
    "the default operator": ([{"key": "k", "value": "a"}], {"a"}),
    "exists": ([{"key": "k", "operator": "Exists"}], {"a", "b"}),
    "everything": ([{"operator": "Exists"}], {"a", "b"}),
    "of another effect": ([{"operator": "Exists", "effect": "NoExecute"}], {"b"}),
    "of another key": ([{"key": "other", "operator": "Exists"}], set()),
}


@pytest.mark.parametrize(("tolerations", "left"), TOLERATIONS.values(), ids=TOLERATIONS)
def test_taints_reject_pods_that_do_not_tolerate_them(tolerations: list[Any], left: set[str]) -> None:
    nodes = [node("a", taints=[taint("NoSchedule")]), node("b", taints=[taint("NoExecute", "b")])]
    assert Board(nodes).feasible(TaintToleration(), pod("p", tolerations=tolerations)) == left


def test_prefer_no_schedule_taints_only_lower_the_score() -> None:
    nodes = [node("free"), node("one", taints=[taint("PreferNoSchedule")])]
    nodes.append(node("two", taints=[taint("PreferNoSchedule"), taint("PreferNoSchedule", "b")]))
    assert Board(nodes).scores(TaintToleration(), pod("p")) == {"free": 100, "one": 50, "two": 0}


def test_cordoned_nodes_accept_only_tolerating_pods() -> None:
    board = Board([node("open"), node("closed", unschedulable=True)])
    assert board.feasible(NodeUnschedulable(), pod("p")) == {"open"}
    tolerations = [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]
    assert board.feasible(NodeUnschedulable(), pod("d", tolerations=tolerations)) == {"open", "closed"}


AFFINITIES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "in": (required(expression("size", "In", "1", "2")), {"small"}),
    "not in": (required(expression("size", "NotIn", "1")), {"large", "bare"}),
    "exists": (required(expression("size", "Exists")), {"small", "large"}),
    "does not exist": (required(expression("size", "DoesNotExist")), {"bare"}),
    "greater": (required(expression("size", "Gt", "3")), {"large"}),
    "less": (required(expression("size", "Lt", "3")), {"small"}),
    "one term of two": (
        required(expression("size", "In", "1"), expression("size", "DoesNotExist")),
        {"small", "bare"},
    ),
    "an empty term": (required({}), set()),
    "by name": (
        required({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["bare"]}]}),
        {"bare"},
    ),
    "by a name that is not there": (
        required({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["other"]}]}),
        set(),
    ),
}


@pytest.mark.parametrize(("affinity", "left"), AFFINITIES.values(), ids=AFFINITIES)
def test_node_affinity_rejects_nodes_that_do_not_match(affinity: dict[str, Any], left: set[str]) -> None:
    board = Board([node("small", labels={"size": "1"}), node("large", labels={"size": "7"}), node("bare")])
    assert board.feasible(NodeAffinity(), pod("p", affinity=affinity)) == left


def test_preferred_nodes_score_by_the_weights_of_their_terms() -> None:
    preferred = [
        {"weight": 30, "preference": expression("disk", "In", "ssd")},
        {"weight": 10, "preference": expression("zone", "Exists")},
    ]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    board = Board([node("both", labels={"disk": "ssd", "zone": "z"}), node("ssd", labels={"disk": "ssd"}), node("no")])
    assert board.scores(NodeAffinity(), pod("p", affinity=affinity)) == {"both": 100, "ssd": 75, "no": 0}


PORTS = {
    "the same": ({}, False),
    "another protocol": ({"protocol": "UDP"}, True),
    "another port": ({"hostPort": 81}, True),
    "another address": ({"hostIP": "10.0.0.2"}, True),
    "all addresses": ({"hostIP": "0.0.0.0"}, False),
}


@pytest.mark.parametrize(("change", "fits"), PORTS.values(), ids=PORTS)
def test_a_port_of_a_node_serves_one_pod(change: dict[str, Any], fits: bool) -> None:
    port = {"containerPort": 80, "hostPort": 80, "hostIP": "10.0.0.1", "protocol": "TCP"}
    board = Board([node("n")], [pod("there", on="n", ports=[port])])
    assert board.feasible(NodePorts(), pod("p", ports=[{**port, **change}])) == ({"n"} if fits else set())


def test_all_missing_resources_are_named() -> None:
    board = Board([node("n", cpu="1", memory="1Gi", pods=1)], [pod("there", on="n", requests={"cpu": "500m"})])
    desired = pod("p", requests={"cpu": "600m", "memory": "2Gi", "example.com/gpu": "1"})
    assert board.message(NodeResourcesFit(), desired) == (
        "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient example.com/gpu, 1 Insufficient memory, "
        "1 Too many pods."
    )


def test_extended_resources_are_counted() -> None:
    nodes = [node("gpu", allocatable={"example.com/gpu": "2"}), node("none")]
    board = Board(nodes, [pod("there", on="gpu", requests={"example.com/gpu": "1"})])
    assert board.feasible(NodeResourcesFit(), pod("p", requests={"example.com/gpu": "1"})) == {"gpu"}
    assert board.feasible(NodeResourcesFit(), pod("q", requests={"example.com/gpu": "2"})) == set()


def test_least_allocated_prefers_the_node_with_more_free_resources() -> None:
    board = Board([node("used", cpu="4", memory="10Gi"), node("free", cpu="4", memory="10Gi")])
    board.cache.set_pod(pod("there", on="used", requests={"cpu": "2", "memory": "5Gi"}))
    assert board.scores(NodeResourcesFit(), pod("p", requests={"cpu": "1", "memory": "2Gi"})) == {
        "used": (25 + 30) // 2,
        "free": (75 + 80) // 2,
    }


def test_most_allocated_fills_nodes_up() -> None:
    board = Board([node("used", cpu="4", memory="10Gi"), node("free", cpu="4", memory="10Gi")])
    board.cache.set_pod(pod("there", on="used", requests={"cpu": "2", "memory": "5Gi"}))
    scores = board.scores(NodeResourcesFit("MostAllocated"), pod("p", requests={"cpu": "1", "memory": "2Gi"}))
    assert scores == {"used": (75 + 70) // 2, "free": (25 + 20) // 2}


def test_balanced_allocation_prefers_the_node_that_becomes_balanced() -> None:
    board = Board([node("even", cpu="4", memory="8Gi"), node("cpu-heavy", cpu="4", memory="8Gi")])
    board.cache.set_pod(pod("there", on="cpu-heavy", requests={"cpu": "2"}))
    scores = board.scores(NodeResourcesBalancedAllocation(), pod("p", requests={"memory": "4Gi"}))
    assert scores == {"even": 62, "cpu-heavy": 87}


def test_present_images_score_by_their_size() -> None:
    size = 500 * 1024 * 1024
    board = Board([node("has", images={"registry.example.com/app:1": size}), node("has-not")])
    spread = size // 2
    desired = 100 * (spread - 23 * 1024 * 1024) // (1000 * 1024 * 1024 - 23 * 1024 * 1024)
    assert board.scores(ImageLocality(), pod("p")) == {"has": desired, "has-not": 0}


def test_gates_are_named() -> None:
    gated = pod("p", schedulingGates=[{"name": "a"}, {"name": "b"}])
    assert SchedulingGates().pre_enqueue(gated) == "waiting for scheduling gates: [a b]"


def spread(max_skew: int = 1, key: str = ZONE, **more: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "web"}}
    return {
        "maxSkew": max_skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
    } | more


def zoned(**zones: str) -> list[Any]:
    return [node(name, labels={ZONE: zone}) for name, zone in zones.items()]


SPREADS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "the emptier zone": (spread(), {"c"}),
    "a greater skew": (spread(2), {"a", "b", "c"}),
    "fewer domains than wanted": (spread(minDomains=3), {"c"}),
    "other pods do not count": (spread(labelSelector={"matchLabels": {"app": "db"}}), {"a", "b", "c"}),
}


@pytest.mark.parametrize(("constraint", "left"), SPREADS.values(), ids=SPREADS)
def test_zones_beyond_the_skew_are_rejected(constraint: dict[str, Any], left: set[str]) -> None:
    board = Board(zoned(a="1", b="1", c="2"), [pod("there", on="a", labels={"app": "web"})])
    desired = pod("p", labels={"app": "web"}, topologySpreadConstraints=[constraint])
    assert board.feasible(PodTopologySpread(DefaultSelectors()), desired) == left


def test_nodes_without_topology_label_have_another_reason() -> None:
    desired = pod("p", labels={"app": "web"}, topologySpreadConstraints=[spread(key="rack")])
    assert Board([node("n")]).message(PodTopologySpread(DefaultSelectors()), desired) == (
        "0/1 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required label)."
    )


def test_terminating_pods_are_not_counted() -> None:
    leaving = pod("there", on="a", labels={"app": "web"})
    object.__setattr__(leaving, "is_terminating", True)
    desired = pod("p", labels={"app": "web"}, topologySpreadConstraints=[spread()])
    assert Board(zoned(a="1", c="2"), [leaving]).feasible(PodTopologySpread(DefaultSelectors()), desired) == {"a", "c"}


def test_replicas_prefer_hosts_and_zones_with_fewer_replicas() -> None:
    board = Board(zoned(a="1", b="1", c="2"), [pod("there", on="a", labels={"app": "web"})])
    selectors = DefaultSelectors(selector_from_labels({"app": "web"}))
    scores = board.scores(PodTopologySpread(selectors), pod("p", labels={"app": "web"}))
    assert scores["c"] > scores["b"] > scores["a"]


def test_affinity_requires_the_same_domain() -> None:
    board = Board([node("a"), node("b")], [pod("db", on="b", labels={"app": "db"})])
    assert board.feasible(InterPodAffinity(), pod("p", affinity=near(term("db")))) == {"b"}


def test_the_first_pod_of_a_group_fits_any_node() -> None:
    board = Board([node("a"), node("b")])
    first = pod("p", labels={"app": "web"}, affinity=near(term("web")))
    assert board.feasible(InterPodAffinity(), first) == {"a", "b"}
    assert board.feasible(InterPodAffinity(), pod("q", affinity=near(term("web")))) == set()


def test_anti_affinity_rejects_the_whole_domain() -> None:
    board = Board(zoned(a="1", b="1", c="2"), [pod("there", on="a", labels={"app": "web"})])
    desired = pod("p", affinity=near(term("web", ZONE), "podAntiAffinity"))
    assert board.feasible(InterPodAffinity(), desired) == {"c"}


def test_anti_affinity_of_existing_pods_is_respected() -> None:
    lonely = pod("there", on="a", affinity=near(term("web"), "podAntiAffinity"))
    board = Board([node("a")], [lonely])
    assert board.message(InterPodAffinity(), pod("p", labels={"app": "web"})) == (
        "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."
    )


def test_terms_select_only_the_pods_own_namespace() -> None:
    board = Board([node("a")], [pod("db", on="a", labels={"app": "db"}, namespace="other")])
    assert board.feasible(InterPodAffinity(), pod("p", affinity=near(term("db")))) == set()
    there = {**term("db"), "namespaces": ["other"]}
    assert board.feasible(InterPodAffinity(), pod("q", affinity=near(there))) == {"a"}


def test_preferred_affinity_is_scaled_between_worst_and_best() -> None:
    preferred = [{"weight": 5, "podAffinityTerm": term("db")}]
    affinity = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    pods = [pod("db-1", on="a", labels={"app": "db"}), pod("db-2", on="a", labels={"app": "db"})]
    board = Board([node("a"), node("b"), node("c")], [*pods, pod("db-3", on="b", labels={"app": "db"})])
    assert board.scores(InterPodAffinity(), pod("p", affinity=affinity)) == {"a": 100, "b": 50, "c": 0}
