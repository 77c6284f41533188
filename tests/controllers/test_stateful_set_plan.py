"""Tests of StatefulSet decisions without a server: steps, rollouts, owners of claims."""

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.component_base.views import POD_VIEW, Pod, PodCondition, PodStatus
from sampan.controllers.stateful_set.identity import (
    POD_NAME_LABEL,
    has_storage,
    is_claim_name,
    parent_and_ordinal,
    with_claims,
)
from sampan.controllers.stateful_set.plan import (
    ReplicaAction,
    Revisions,
    StatefulSetState,
    condemned_step,
    next_outdated,
    observe,
    status,
    step,
    template_for,
)
from sampan.controllers.stateful_set.retention import has_other_controller, is_left_over, new_references, owners
from sampan.controllers.workloads.history import POD_HASH_LABEL
from sampan.resource import ObjectMeta, OwnerReference
from sampan.wire import json

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
OLD, NEW = "web-old", "web-new"


def revision(name: str) -> Any:
    """A revision whose template contains its name."""
    return {"metadata": {"name": name}, "data": {"spec": {"template": {"spec": name, "$patch": "replace"}}}}


ROLLING = Revisions(revision(OLD), revision(NEW), 0)


def web(replicas: int, **spec: Any) -> Any:
    """A StatefulSet."""
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    desired = {"replicas": replicas, "updateStrategy": strategy, "selector": {"matchLabels": {"app": "web"}}}
    return {"metadata": {"name": "web", "namespace": "default", "uid": "set"}, "spec": {**desired, **spec}}


def pod(ordinal: int, revision: str = NEW, *, phase: str = "Running", ready: bool = True, going: bool = False) -> Pod:
    """One of its Pods, which has been ready for an hour."""
    name = f"web-{ordinal}"
    since = "2025-12-31T23:00:00Z"
    labels = {POD_HASH_LABEL: revision, POD_NAME_LABEL: name}
    return Pod(
        metadata=ObjectMeta(name=name, uid=name, labels=labels, deletion_timestamp=since if going else None),
        status=PodStatus(
            phase=phase, conditions=[PodCondition("Ready", str(ready), last_transition_time=since)] if ready else []
        ),
    )


def state(owner: Any, *pods: Pod) -> StatefulSetState:
    """The observed state of a set during a rollout."""
    return observe(owner, ROLLING, pods, NOW)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("web-0", ("web", 0)),
        ("a-b-12", ("a-b", 12)),
        ("web", ("", -1)),
        ("web-", ("", -1)),
        ("web-9999999999", ("web", -1)),
    ],
    ids=str,
)
def test_a_pod_name_has_set_and_ordinal(name: str, expected: tuple[str, int]) -> None:
    assert parent_and_ordinal(name) == expected


@pytest.mark.parametrize(
    ("found", "ordered", "parallel"),
    [
        pytest.param(None, ReplicaAction.CREATE, ReplicaAction.CREATE, id="missing"),
        pytest.param(pod(0), ReplicaAction.KEEP, ReplicaAction.KEEP, id="well"),
        pytest.param(pod(0, ready=False), ReplicaAction.WAIT, ReplicaAction.KEEP, id="not ready"),
        pytest.param(pod(0, phase="Pending"), ReplicaAction.WAIT, ReplicaAction.KEEP, id="pending"),
        pytest.param(pod(0, going=True), ReplicaAction.WAIT, ReplicaAction.KEEP, id="terminating"),
        pytest.param(pod(0, phase="Failed"), ReplicaAction.DELETE, ReplicaAction.DELETE, id="failed"),
        pytest.param(pod(0, phase="Succeeded"), ReplicaAction.DELETE, ReplicaAction.DELETE, id="succeeded"),
        pytest.param(
            pod(0, phase="Failed", going=True), ReplicaAction.WAIT, ReplicaAction.WAIT, id="failed and terminating"
        ),
    ],
)
def test_steps_for_desired_pods(found: Pod | None, ordered: ReplicaAction, parallel: ReplicaAction) -> None:
    pods = [found] if found is not None else []
    assert step(state(web(1), *pods), found) is ordered
    assert step(state(web(1, podManagementPolicy="Parallel"), *pods), found) is parallel


def test_ordered_management_waits_for_min_ready_seconds() -> None:
    young = pod(0)
    assert step(state(web(1, minReadySeconds=3600), young), young) is ReplicaAction.KEEP
    assert step(state(web(1, minReadySeconds=3601), young), young) is ReplicaAction.WAIT


@pytest.mark.parametrize(
    ("others", "found", "ordered", "parallel"),
    [
        pytest.param([pod(0)], pod(1), ReplicaAction.DELETE, ReplicaAction.DELETE, id="well"),
        pytest.param(
            [pod(0)], pod(1, ready=False), ReplicaAction.DELETE, ReplicaAction.DELETE, id="the first unhealthy pod"
        ),
        pytest.param(
            [pod(0, ready=False)], pod(1, ready=False), ReplicaAction.WAIT, ReplicaAction.DELETE, id="a later one"
        ),
        pytest.param([], pod(1, ready=False), ReplicaAction.WAIT, ReplicaAction.DELETE, id="one is missing"),
        pytest.param([pod(0)], pod(1, going=True), ReplicaAction.WAIT, ReplicaAction.KEEP, id="terminating"),
    ],
)
def test_steps_for_surplus_pods(others: list[Pod], found: Pod, ordered: ReplicaAction, parallel: ReplicaAction) -> None:
    assert condemned_step(state(web(1), *others, found), found) is ordered
    assert condemned_step(state(web(1, podManagementPolicy="Parallel"), *others, found), found) is parallel


def test_surplus_pods_are_sorted_from_the_highest_ordinal_down() -> None:
    found = state(web(1, ordinals={"start": 2}), *(pod(ordinal) for ordinal in range(5)))
    assert [each.metadata.name for each in found.condemned] == ["web-4", "web-3", "web-1", "web-0"]
    assert list(found.replicas) == [2]


@pytest.mark.parametrize(
    ("owner", "pods", "expected"),
    [
        pytest.param(web(3), [pod(0, OLD), pod(1, OLD), pod(2, OLD)], "web-2", id="all old"),
        pytest.param(web(3), [pod(0, OLD), pod(1, OLD), pod(2)], "web-1", id="one done"),
        pytest.param(web(3), [pod(0, OLD), pod(1, OLD), pod(2, ready=False)], None, id="one done, not ready"),
        pytest.param(web(3), [pod(0, OLD), pod(1, OLD), pod(2, OLD, going=True)], None, id="one going"),
        pytest.param(web(3), [pod(0, OLD), pod(1, OLD)], None, id="one missing"),
        pytest.param(web(2), [pod(0, OLD, ready=False), pod(1)], "web-0", id="an unhealthy old pod"),
        pytest.param(web(2), [pod(0, OLD), pod(1, OLD, phase="Failed")], None, id="an ended pod"),
        pytest.param(web(1), [pod(0)], None, id="all done"),
        pytest.param(
            web(2, updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}),
            [pod(0, OLD), pod(1)],
            None,
            id="below the partition",
        ),
        pytest.param(web(1, updateStrategy={"type": "OnDelete"}), [pod(0, OLD)], None, id="on delete"),
    ],
)
def test_the_next_pod_to_update(owner: Any, pods: list[Pod], expected: str | None) -> None:
    found = next_outdated(state(owner, *pods))
    assert (found.metadata.name if found is not None else None) == expected


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ({"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}, [OLD, NEW, NEW]),
        ({"type": "RollingUpdate", "rollingUpdate": {}}, [NEW, NEW, NEW]),
        ({"type": "RollingUpdate"}, [OLD, OLD, NEW]),
        ({"type": "OnDelete"}, [NEW, NEW, NEW]),
    ],
    ids=str,
)
def test_revisions_of_new_pods(strategy: Any, expected: list[str]) -> None:
    owner = web(3, updateStrategy=strategy, ordinals={"start": 4})
    owner["status"] = {"currentReplicas": 2}
    templates: list[Any] = [template_for(state(owner), ordinal) for ordinal in (4, 5, 6)]
    assert templates == [({"spec": name}, name) for name in expected]


def test_a_rollout_is_complete_when_all_pods_are_updated_and_ready() -> None:
    halfway = status(state(web(2), pod(0, OLD), pod(1)))
    assert (halfway["currentRevision"], halfway["currentReplicas"], halfway["updatedReplicas"]) == (OLD, 1, 1)
    done = status(state(web(2), pod(0), pod(1)))
    assert (done["currentRevision"], done["currentReplicas"], done["updatedReplicas"]) == (NEW, 2, 2)
    scaling = status(state(web(2), pod(0), pod(1), pod(2, going=True)))
    assert (scaling["currentRevision"], scaling["replicas"], scaling["updatedReplicas"]) == (OLD, 3, 2)


@given(count=st.integers(1, 6), partition=st.integers(0, 6))
def test_a_rollout_takes_down_one_pod_at_a_time_and_completes(count: int, partition: int) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    owner = web(count, updateStrategy=strategy)
    pods = {ordinal: pod(ordinal, OLD) for ordinal in range(count)}
    for _ in range(20 * count):
        missing = [ordinal for ordinal in range(count) if ordinal not in pods]
        unready = [ordinal for ordinal, each in pods.items() if not each.is_ready]
        assert len(missing) + len(unready) <= 1
        found = state(owner, *pods.values())
        outdated = next_outdated(found)
        if missing:
            pods[missing[0]] = pod(missing[0], template_for(found, missing[0])[1], ready=False)
        elif unready:
            assert outdated is None
            pods[unready[0]] = pod(unready[0], pods[unready[0]].metadata.labels[POD_HASH_LABEL])
        elif outdated is not None:
            del pods[parent_and_ordinal(outdated.metadata.name)[1]]
    assert [pods[ordinal].metadata.labels[POD_HASH_LABEL] for ordinal in range(count)] == [
        OLD if ordinal < partition else NEW for ordinal in range(count)
    ]


SET = OwnerReference("apps/v1", "StatefulSet", "web", "set", True, True)
POD = OwnerReference("v1", "Pod", "web-0", "pod", True, True)
OTHER = OwnerReference("v1", "Other", "o", "other", True)
FRIEND = OwnerReference("v1", "Other", "o", "friend")
LOOSE = OwnerReference("apps/v1", "StatefulSet", "web", "set")
STALE = OwnerReference("v1", "Pod", "web-0", "gone", True)


@pytest.mark.parametrize(
    ("policy", "replicas", "before", "after"),
    [
        pytest.param("Retain Retain", 1, [], None, id="no owner"),
        pytest.param("Retain Retain", 1, [SET], [], id="no longer the set's"),
        pytest.param("Retain Retain", 1, [OTHER], None, id="another's"),
        pytest.param("Delete Retain", 1, [], [SET], id="the set's"),
        pytest.param("Delete Retain", 1, [SET], None, id="the set's already"),
        pytest.param("Delete Retain", 1, [FRIEND], [FRIEND, SET], id="the set's too"),
        pytest.param("Delete Retain", 1, [LOOSE], [SET], id="the set controls it"),
        pytest.param("Delete Retain", 1, [OTHER], None, id="another controls it"),
        pytest.param("Delete Retain", 1, [OTHER, SET], [OTHER], id="another controls it already"),
        pytest.param("Delete Retain", 1, [STALE], None, id="an earlier pod's"),
        pytest.param("Retain Delete", 1, [], None, id="the pod stays"),
        pytest.param("Retain Delete", 0, [], [POD], id="the pod is surplus"),
        pytest.param("Retain Delete", 1, [POD], [], id="the pod stays after all"),
        pytest.param("Delete Delete", 1, [], [SET], id="both, the pod stays"),
        pytest.param("Delete Delete", 0, [SET], [POD], id="both, the pod is surplus"),
    ],
)
def test_owners_of_a_claim_follow_the_policy(
    policy: str, replicas: int, before: list[OwnerReference], after: list[OwnerReference] | None
) -> None:
    when_deleted, when_scaled = policy.split()
    retention = {"whenDeleted": when_deleted, "whenScaled": when_scaled}
    candidates = owners(
        web(replicas, persistentVolumeClaimRetentionPolicy=retention), 0, pod_name="web-0", pod_uid="pod"
    )
    assert new_references(before, candidates) == after


def test_another_controller_matters_only_with_a_policy() -> None:
    retain = owners(web(1), 0, pod_name="web-0", pod_uid="pod")
    policy = {"whenDeleted": "Delete", "whenScaled": "Delete"}
    delete = owners(web(1, persistentVolumeClaimRetentionPolicy=policy), 0, pod_name="web-0", pod_uid="pod")
    assert not has_other_controller([OTHER], retain)
    assert has_other_controller([OTHER], delete)
    assert has_other_controller([STALE], delete)
    assert not has_other_controller([SET, POD, FRIEND], delete)


def test_a_claim_of_an_earlier_pod_is_stale() -> None:
    policy = {"whenDeleted": "Retain", "whenScaled": "Delete"}
    scaled = owners(web(1, persistentVolumeClaimRetentionPolicy=policy), 0, pod_name="web-0", pod_uid="")
    assert is_left_over([STALE], scaled)
    assert not is_left_over([SET], scaled)
    assert not is_left_over([STALE], owners(web(1), 0, pod_name="web-0", pod_uid=""))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("data-web-0", True), ("data-web-17", True), ("data-web", False), ("web-0", False), ("log-web-0", False)],
    ids=str,
)
def test_a_claim_belongs_to_the_set_by_its_name(name: str, expected: bool) -> None:
    owner = web(1, volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {}}])
    assert is_claim_name(owner, name) is expected


def test_claims_replace_volumes_of_the_same_name() -> None:
    owner = web(1, volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {}}])
    given_volumes: Any = [{"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}]
    volumes = with_claims(owner, 0, given_volumes)
    assert volumes == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}}, given_volumes[1]]

    def with_volumes(volumes: list[Any]) -> Pod:
        return POD_VIEW.decode(json.encode({"metadata": {"name": "web-0"}, "spec": {"volumes": volumes}}))

    assert has_storage(owner, with_volumes(volumes))
    assert not has_storage(owner, with_volumes(given_volumes))
    assert not has_storage(owner, with_volumes([]))
