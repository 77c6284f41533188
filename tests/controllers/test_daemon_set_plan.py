"""Tests of DaemonSet decisions without a server: placement, surplus Pods, updates."""

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.component_base.views import POD_VIEW, Node, NodeSpec, Pod, PodCondition, PodSpec, PodStatus
from sampan.controllers.daemon_set.controller import status
from sampan.controllers.daemon_set.placement import new_pod, pinned, placement_of, target_node, template_generation
from sampan.controllers.daemon_set.rolling import rolling_update
from sampan.controllers.daemon_set.state import DaemonSetState, observe
from sampan.controllers.daemon_set.upkeep import upkeep
from sampan.controllers.workloads.history import POD_HASH_LABEL
from sampan.core.pods.tolerations import Taint
from sampan.resource import ObjectMeta
from sampan.wire import json

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
OLD, NEW = "old", "new"


def agent(pod: Any | None = None, *, annotations: dict[str, str] | None = None, **limits: int | str) -> Any:
    """A DaemonSet; `limits` are those of its rolling update."""
    strategy = {"type": "RollingUpdate", "rollingUpdate": limits or {"maxUnavailable": 1, "maxSurge": 0}}
    metadata = {"name": "agent", "namespace": "default", "uid": "u", "annotations": annotations or {}}
    spec = {"updateStrategy": strategy, "template": {"spec": pod or {}}}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": spec}


def node(name: str, *taints: Taint, **labels: str) -> Node:
    """A Node."""
    return Node(ObjectMeta(name=name, labels=labels), NodeSpec(taints=list(taints)))


def pod(node: str, revision: str = NEW, **more: Any) -> Pod:
    """A Pod on a Node, ready for an hour."""
    since = "2025-12-31T23:00:00Z"
    ready = [PodCondition("Ready", "True", last_transition_time=since)] if more.get("ready", True) else []
    name = more.get("name", f"{node}-{revision}")
    going = since if more.get("going") else None
    created = more.get("created", since)
    labels = {POD_HASH_LABEL: revision}
    return Pod(
        metadata=ObjectMeta(name=name, labels=labels, deletion_timestamp=going, creation_timestamp=created),
        spec=PodSpec(node_name=node),
        status=PodStatus(phase=more.get("phase", "Running"), conditions=ready),
    )


def state(owner: Any, nodes: str, *pods: Pod) -> DaemonSetState:
    """Observed state, on Nodes with one-letter names."""
    return observe(owner, NEW, [node(name) for name in nodes], pods, NOW)


def names(pods: list[Pod]) -> list[str]:
    """Return the sorted names of Pods."""
    return sorted(each.metadata.name for each in pods)


def required(*expressions: Any, **fields: Any) -> Any:
    """A required node affinity of one term."""
    term = {"matchExpressions": list(expressions), **fields}
    selector = {"nodeSelectorTerms": [term]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}}


NO_SCHEDULE, NO_EXECUTE = Taint("k", "v", "NoSchedule"), Taint("k", "v", "NoExecute")
SSD = {"key": "disk", "operator": "In", "values": ["ssd"]}


@pytest.mark.parametrize(
    ("spec", "there", "run", "stay"),
    [
        pytest.param({}, node("a"), True, True, id="any node"),
        pytest.param({"nodeName": "a"}, node("a"), True, True, id="the node by name"),
        pytest.param({"nodeName": "b"}, node("a"), False, False, id="another by name"),
        pytest.param({"nodeSelector": {"disk": "ssd"}}, node("a", disk="ssd"), True, True, id="a label"),
        pytest.param({"nodeSelector": {"disk": "ssd"}}, node("a"), False, False, id="a label is missing"),
        pytest.param(required(SSD), node("a", disk="ssd"), True, True, id="affinity"),
        pytest.param(required(SSD), node("a", disk="hdd"), False, False, id="no affinity"),
        pytest.param({}, node("a", NO_SCHEDULE), False, True, id="kept away"),
        pytest.param({}, node("a", NO_EXECUTE), False, False, id="driven out"),
        pytest.param({"tolerations": [{"operator": "Exists"}]}, node("a", NO_EXECUTE), True, True, id="tolerant"),
        pytest.param({}, node("a", Taint("k", "", "PreferNoSchedule")), True, True, id="not liked"),
        pytest.param(
            {}, node("a", Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")), True, True, id="cordoned"
        ),
        pytest.param({}, node("a", Taint("node.kubernetes.io/not-ready", "", "NoExecute")), True, True, id="not ready"),
        pytest.param(
            {},
            node("a", Taint("node.kubernetes.io/network-unavailable", "", "NoSchedule")),
            False,
            True,
            id="no network",
        ),
        pytest.param(
            {"hostNetwork": True},
            node("a", Taint("node.kubernetes.io/network-unavailable", "", "NoSchedule")),
            True,
            True,
            id="no network is needed",
        ),
    ],
)
def test_placement_decides_where_pods_run_and_stay(spec: Any, there: Node, run: bool, stay: bool) -> None:
    placement = placement_of(agent(spec))
    assert (placement.should_run(there), placement.should_stay(there)) == (run, stay)


def test_a_pinned_pod_keeps_its_other_affinities() -> None:
    spec = required(SSD)
    spec["affinity"]["podAntiAffinity"] = {}
    spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = []
    made = new_pod(agent(spec), hashed="h")
    one, other = pinned(made, "a"), pinned(made, "b")
    assert one["spec"]["affinity"].keys() == {"nodeAffinity", "podAntiAffinity"}
    assert "preferredDuringSchedulingIgnoredDuringExecution" in one["spec"]["affinity"]["nodeAffinity"]
    assert [target_node(POD_VIEW.decode(json.encode(each))) for each in (one, other)] == ["a", "b"]
    assert made["spec"]["affinity"] == spec["affinity"]


def test_a_pod_without_affinity_has_no_target_node() -> None:
    assert target_node(POD_VIEW.decode(b'{"metadata":{"name":"p"},"spec":{}}')) is None


@pytest.mark.parametrize(("generation", "expected"), [("3", "3"), ("x", None), (None, None)], ids=str)
def test_an_invalid_template_generation_is_ignored(generation: str | None, expected: str | None) -> None:
    annotations = {"deprecated.daemonset.template.generation": generation} if generation is not None else {}
    assert template_generation(agent(annotations=annotations)) == expected


def test_nodes_without_pod_get_one_and_duplicates_are_deleted() -> None:
    pods = [pod("b", name="young"), pod("b", name="old", created="2025-01-01T00:00:00Z")]
    changes = upkeep(state(agent(), "ab", *pods))
    assert (changes.create, names(changes.delete)) == (["a"], ["young"])


def test_a_terminating_pod_is_replaced_early_only_with_surge() -> None:
    assert upkeep(state(agent(), "a", pod("a", going=True))).create == []
    assert upkeep(state(agent(maxSurge=1), "a", pod("a", going=True))).create == ["a"]


def test_failed_and_succeeded_pods_are_distinguished() -> None:
    changes = upkeep(state(agent(), "ab", pod("a", phase="Failed"), pod("b", phase="Succeeded")))
    assert (names([each for _, each in changes.failed]), changes.failed[0][0]) == (["a-new"], "a")
    assert names([each for _, each in changes.succeeded]) == ["b-new"]
    assert (changes.create, changes.delete) == ([], [])


def test_an_ended_terminating_pod_does_not_count() -> None:
    assert upkeep(state(agent(), "a", pod("a", phase="Failed", going=True))).create == ["a"]


@pytest.mark.parametrize(
    ("pods", "deleted"),
    [
        pytest.param([pod("a", OLD), pod("a", ready=False)], [], id="the new one is not ready"),
        pytest.param([pod("a", OLD), pod("a")], ["a-old"], id="the new one is available"),
        pytest.param([pod("a", OLD, ready=False), pod("a", ready=False)], ["a-old"], id="neither is ready"),
        pytest.param([pod("a"), pod("a", name="more")], ["more"], id="two new ones"),
        pytest.param([pod("a", OLD), pod("a", OLD, name="more")], ["more"], id="two old ones"),
        pytest.param([pod("a", OLD)], [], id="one alone"),
    ],
)
def test_surge_allows_two_pods_on_a_node(pods: list[Pod], deleted: list[str]) -> None:
    assert names(upkeep(state(agent(maxSurge=1), "a", *pods)).delete) == deleted


@pytest.mark.parametrize(
    ("limits", "pods", "deleted"),
    [
        pytest.param({"maxUnavailable": 1}, [pod("a", OLD), pod("b", OLD), pod("c", OLD)], ["a-old"], id="one"),
        pytest.param(
            {"maxUnavailable": "50%"}, [pod("a", OLD), pod("b", OLD), pod("c", OLD)], ["a-old", "b-old"], id="half"
        ),
        pytest.param({"maxUnavailable": 1}, [pod("a", OLD), pod("b", OLD), pod("c", ready=False)], [], id="one is new"),
        pytest.param({"maxUnavailable": 1}, [pod("a", OLD), pod("b", OLD)], [], id="one is missing"),
        pytest.param(
            {"maxUnavailable": 1},
            [pod("a", OLD, ready=False), pod("b", OLD, ready=False), pod("c", OLD)],
            ["a-old", "b-old"],
            id="unavailable ones are free",
        ),
        pytest.param({"maxUnavailable": 3}, [pod("a"), pod("b"), pod("c")], [], id="all are new"),
        pytest.param(
            {"maxUnavailable": 1},
            [pod("a", OLD), pod("b", OLD), pod("c", OLD, going=True)],
            [],
            id="one is terminating",
        ),
    ],
)
def test_an_update_replaces_unavailable_pods_and_a_limited_number_of_available_ones(
    limits: dict[str, Any], pods: list[Pod], deleted: list[str]
) -> None:
    changes = rolling_update(state(agent(**limits), "abc", *pods))
    assert (changes.create, names(changes.delete)) == ([], deleted)


@pytest.mark.parametrize(
    ("nodes", "pods", "created", "deleted"),
    [
        pytest.param("ab", [pod("a", OLD), pod("b", OLD)], ["a"], [], id="one more"),
        pytest.param("ab", [pod("a", OLD), pod("a", ready=False), pod("b", OLD)], [], [], id="one is being created"),
        pytest.param("ab", [pod("a", OLD), pod("a"), pod("b", OLD)], ["b"], ["a-old"], id="one was created"),
        pytest.param(
            "ab",
            [pod("a", OLD, ready=False), pod("b", OLD)],
            ["a", "b"],
            [],
            id="unavailable pods do not use the limit",
        ),
        pytest.param("a", [pod("a"), pod("z", OLD)], [], ["z-old"], id="one is misplaced"),
        pytest.param("a", [pod("z", OLD)], [], [], id="a misplaced pod that is needed"),
        pytest.param("a", [pod("z", OLD, ready=False)], [], ["z-old"], id="a misplaced one of no use"),
    ],
)
def test_surge_creates_new_pods_next_to_old_ones(
    nodes: str, pods: list[Pod], created: list[str], deleted: list[str]
) -> None:
    changes = rolling_update(state(agent(maxSurge=1), nodes, *pods))
    assert (changes.create, names(changes.delete)) == (created, deleted)


@given(
    count=st.integers(1, 6),
    unavailable=st.integers(0, 3),
    surge=st.integers(0, 3),
    late=st.lists(st.integers(0, 5), max_size=40),
)
def test_an_update_keeps_its_limits_and_completes(count: int, unavailable: int, surge: int, late: list[int]) -> None:
    owner = agent(maxUnavailable=0 if surge else unavailable, maxSurge=surge)
    nodes = "abcdef"[:count]
    pods = [pod(name, OLD) for name in nodes]
    turns = iter(late)
    for _ in range(20 * count + len(late)):
        found = state(owner, nodes, *pods)
        available = {each.spec.node_name for each in pods if found.is_available(each)}
        assert len(nodes) - len(available) <= found.max_unavailable
        assert len(pods) <= count + surge
        changes = upkeep(found)
        if not changes.create and not changes.delete:
            changes = rolling_update(found)
        doomed = set(names(changes.delete))
        pods = [each for each in pods if each.metadata.name not in doomed]
        pods += [pod(name, ready=False) for name in changes.create]
        unready = [position for position, each in enumerate(pods) if not each.is_ready]
        turn = next(turns, 0)
        if unready and turn < 5:
            position = unready[turn % len(unready)]
            pods[position] = pod(pods[position].spec.node_name)
    assert names(pods) == [f"{name}-{NEW}" for name in nodes]


def test_the_oldest_pod_on_a_node_is_counted() -> None:
    pods = [pod("a", OLD, created="2025-01-01T00:00:00Z"), pod("a", ready=False), pod("z")]
    found = status(state(agent(maxSurge=1), "ab", *pods), 2)
    assert found == {
        "desiredNumberScheduled": 2,
        "currentNumberScheduled": 1,
        "numberMisscheduled": 0,
        "numberReady": 1,
        "numberAvailable": 1,
        "numberUnavailable": 1,
        "collisionCount": 2,
        "observedGeneration": 0,
    }
