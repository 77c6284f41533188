"""Tests of Deployments: rollouts, scaling, history, pauses, deadlines, conditions."""

import asyncio
import datetime as dt
from typing import Any

import pytest

from sampan.component_base.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from sampan.controllers import deployment, replica_set
from sampan.controllers.deployment.annotations import REVISION, new_annotations
from sampan.controllers.deployment.sizes import max_surge, max_unavailable, new_size, resized, shrunk
from sampan.controllers.deployment.status import overdue_s
from sampan.controllers.deployment.templates import same_template, template_hash
from sampan.controllers.status import find_status_condition
from sampan.resource import Object, meta
from tests.controllers.cluster import WAIT_S, Working, cluster, working
from tests.controllers.test_replica_set import LABELS, template

LOOPS = (deployment.set_up, replica_set.set_up)


def deploy(count: int, **spec: object) -> Any:
    """A Deployment."""
    selector = {"matchLabels": LABELS}
    return {
        "metadata": {"name": "a"},
        "spec": {"replicas": count, "selector": selector, "template": template(), **spec},
    }


async def _roll(c: Working, image: str) -> None:
    await c.patch(DEPLOYMENTS, "a", {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}})


async def _until(c: Working, **status: Any) -> Object:
    """Make new Pods ready until the Deployment's status has the wanted numbers."""
    current: Object = {}
    try:
        async with asyncio.timeout(WAIT_S):
            while True:
                for pod in await c.all(PODS):
                    if not (pod.get("status") or {}).get("conditions") and "deletionTimestamp" not in pod["metadata"]:
                        await c.make_ready(pod)
                found = await c.get(DEPLOYMENTS, "a")
                current = found.get("status") or {}
                if all(current.get(name, 0) == value for name, value in status.items()):
                    return found
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"status is {current}, expected {status}") from None


def _condition(obj: Object, type: str) -> tuple[str, str]:
    found = find_status_condition(obj["status"], type)
    assert found is not None
    return found["status"], found["reason"]


async def _done(c: Working, count: int, generation: int) -> Object:
    counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), count)
    return await _until(c, observedGeneration=generation, **counts)


async def test_a_deployment_creates_a_replica_set_that_creates_pods() -> None:
    async with cluster(*LOOPS) as c:
        owner = await c.create(DEPLOYMENTS, deploy(3))
        found = await _done(c, 3, 1)
        [made] = await c.all(REPLICA_SETS)
        assert meta(made).owner_references[0].uid == meta(owner).uid
        assert made["spec"]["selector"]["matchLabels"] == made["spec"]["template"]["metadata"]["labels"]
        assert meta(made).name == f"a-{meta(made).labels['pod-template-hash']}"
        assert (meta(made).annotations[REVISION], meta(found).annotations[REVISION]) == ("1", "1")
        await c.events("ScalingReplicaSet")


async def test_a_complete_rollout_is_reported() -> None:
    async with cluster(*LOOPS) as c:
        await c.create(DEPLOYMENTS, deploy(2))
        await _done(c, 2, 1)
        found = await c.until(DEPLOYMENTS, "a", lambda d: _condition(d, "Progressing")[1] == "NewReplicaSetAvailable")
        assert _condition(found, "Available") == ("True", "MinimumReplicasAvailable")
        progress = find_status_condition(found["status"], "Progressing")
        assert progress is not None
        [made] = await c.all(REPLICA_SETS)
        assert progress["message"] == f'ReplicaSet "{meta(made).name}" has successfully progressed.'


async def test_a_deployment_without_ready_pods_is_unavailable() -> None:
    async with cluster(*LOOPS) as c:
        await c.create(DEPLOYMENTS, deploy(2))
        found = await c.until(DEPLOYMENTS, "a", lambda d: (d.get("status") or {}).get("unavailableReplicas") == 2)
        assert _condition(found, "Available") == ("False", "MinimumReplicasUnavailable")


async def test_a_rollout_replaces_all_pods_within_its_limits() -> None:
    async with cluster(*LOOPS) as c:
        rolling = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
        await c.create(DEPLOYMENTS, deploy(3, strategy=rolling))
        await _done(c, 3, 1)
        await _roll(c, "two")
        await _done(c, 3, 2)
        old, new = sorted(await c.all(REPLICA_SETS), key=lambda rs: meta(rs).annotations[REVISION])
        assert (old["spec"]["replicas"], new["spec"]["replicas"]) == (0, 3)
        assert {pod["spec"]["containers"][0]["image"] for pod in await c.pods(3)} == {"two"}


async def test_a_rollback_gets_a_new_revision() -> None:
    async with cluster(*LOOPS) as c:
        await c.create(DEPLOYMENTS, deploy(1))
        await _done(c, 1, 1)
        await _roll(c, "two")
        await _done(c, 1, 2)
        await _roll(c, "i")
        await _done(c, 1, 3)
        revisions = sorted(meta(each).annotations[REVISION] for each in await c.all(REPLICA_SETS))
        assert revisions == ["2", "3"]
        await c.until(DEPLOYMENTS, "a", lambda d: meta(d).annotations[REVISION] == "3")
        again = next(each for each in await c.all(REPLICA_SETS) if meta(each).annotations[REVISION] == "3")
        assert meta(again).annotations["deployment.kubernetes.io/revision-history"] == "1"


async def test_recreate_deletes_all_old_pods_before_creating_new_ones() -> None:
    async with cluster(*LOOPS) as c:
        await c.create(DEPLOYMENTS, deploy(2, strategy={"type": "Recreate"}))
        await _done(c, 2, 1)
        held = (await c.pods(2))[0]["metadata"]["name"]
        await c.patch(PODS, held, {"metadata": {"finalizers": ["example.com/hold"]}})
        await _roll(c, "two")
        await c.until_all(PODS, lambda pods: len(pods) == 1)
        await c.until_all(REPLICA_SETS, lambda sets: not sets[0]["status"]["replicas"])  # its last status update
        assert all(each["spec"]["containers"][0]["image"] == "i" for each in await c.all(PODS))
        await c.patch(PODS, held, {"metadata": {"finalizers": None}})
        await _done(c, 2, 2)
        assert {pod["spec"]["containers"][0]["image"] for pod in await c.pods(2)} == {"two"}


async def test_scaling_changes_only_the_size_of_the_replica_set() -> None:
    async with cluster(*LOOPS) as c:
        await c.create(DEPLOYMENTS, deploy(2))
        await _done(c, 2, 1)
        await c.patch(DEPLOYMENTS, "a", {"spec": {"replicas": 5}})
        await _done(c, 5, 2)
        assert len(await c.all(REPLICA_SETS)) == 1
        await c.patch(DEPLOYMENTS, "a", {"spec": {"replicas": 0}})
        await _done(c, 0, 3)


async def test_replica_sets_beyond_the_history_limit_are_deleted() -> None:
    async with cluster(*LOOPS) as c:
        await c.create(DEPLOYMENTS, deploy(1, revisionHistoryLimit=1))
        await _done(c, 1, 1)
        for generation, image in enumerate(["two", "three"], 2):
            await _roll(c, image)
            await _done(c, 1, generation)
        left = await c.until_all(REPLICA_SETS, lambda sets: len(sets) == 2)
        assert sorted(meta(each).annotations[REVISION] for each in left) == ["2", "3"]


async def test_a_paused_deployment_is_scaled_but_not_rolled_out() -> None:
    async with cluster(*LOOPS) as c:
        await c.create(DEPLOYMENTS, deploy(1))
        await _done(c, 1, 1)
        await c.patch(DEPLOYMENTS, "a", {"spec": {"paused": True}})
        await c.until(DEPLOYMENTS, "a", lambda d: _condition(d, "Progressing") == ("Unknown", "DeploymentPaused"))
        await _roll(c, "two")
        await c.patch(DEPLOYMENTS, "a", {"spec": {"replicas": 2}})
        await _until(c, observedGeneration=4, replicas=2, readyReplicas=2)
        assert len(await c.all(REPLICA_SETS)) == 1
        await c.patch(DEPLOYMENTS, "a", {"spec": {"paused": False}})
        await _done(c, 2, 5)
        assert len(await c.all(REPLICA_SETS)) == 2


def test_a_progressing_condition_without_time_is_overdue() -> None:
    unset: Any = {"type": "Progressing", "status": "True", "lastUpdateTime": None, "lastTransitionTime": None}
    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    assert overdue_s(deploy(1, progressDeadlineSeconds=600), {"conditions": [unset]}, now) == 0


async def test_a_missed_progress_deadline_is_reported() -> None:
    async with cluster(*LOOPS) as c:
        await c.create(DEPLOYMENTS, deploy(1, progressDeadlineSeconds=1))
        found = await c.until(DEPLOYMENTS, "a", lambda d: _has(d, "ProgressDeadlineExceeded"))
        assert _condition(found, "Progressing") == ("False", "ProgressDeadlineExceeded")


def _has(obj: Object, reason: str) -> bool:
    return any(each["reason"] == reason for each in (obj.get("status") or {}).get("conditions") or ())


async def test_a_failure_of_the_replica_set_is_reported() -> None:
    async with cluster(*LOOPS) as c:
        await c.create(DEPLOYMENTS, deploy(1, template=template(finalizers=["unqualified"])))
        found = await c.until(DEPLOYMENTS, "a", lambda d: _has(d, "FailedCreate"))
        assert _condition(found, "ReplicaFailure") == ("True", "FailedCreate")


async def test_matching_replica_sets_are_adopted() -> None:
    async with cluster(*LOOPS) as c:
        labelled = {**LABELS, "pod-template-hash": "x"}
        spec = {"replicas": 1, "selector": {"matchLabels": labelled}, "template": template(labels=labelled)}
        orphan = await c.create(REPLICA_SETS, {"metadata": {"name": "orphan", "labels": labelled}, "spec": spec})
        await c.create(DEPLOYMENTS, deploy(1))
        await _done(c, 1, 1)
        [only] = await c.all(REPLICA_SETS)
        assert meta(only).uid == meta(orphan).uid


async def test_a_name_collision_is_resolved() -> None:
    async with cluster(*LOOPS) as c:
        made = deploy(1)
        stored = await c.create(DEPLOYMENTS, {**made, "metadata": {"name": "b"}})
        await c.until_all(REPLICA_SETS, lambda sets: len(sets) == 1)
        hashed = template_hash(stored["spec"]["template"], None)
        spec = {"replicas": 0, "selector": {"matchLabels": {"x": "y"}}, "template": template(labels={"x": "y"})}
        await c.create(REPLICA_SETS, {"metadata": {"name": f"a-{hashed}"}, "spec": spec})
        await c.create(DEPLOYMENTS, made)
        found = await c.until(DEPLOYMENTS, "a", lambda d: (d.get("status") or {}).get("collisionCount") == 1)
        assert found
        await c.until_all(REPLICA_SETS, lambda sets: len([s for s in sets if meta(s).name.startswith("a-")]) == 2)


async def test_after_kill_and_restart_nothing_is_created_twice() -> None:
    async with cluster() as c:
        await c.create(DEPLOYMENTS, deploy(10))
        for _ in range(4):
            async with working(c.client, *LOOPS):
                pass
        async with working(c.client, *LOOPS) as again:
            await _done(again, 10, 1)
        assert (len(await c.all(REPLICA_SETS)), len(await c.all(PODS))) == (1, 10)


def _set(name: str, size: int, available: int, *, desired: int = 10, made: int = 0) -> Any:
    annotations = {
        "deployment.kubernetes.io/desired-replicas": str(desired),
        "deployment.kubernetes.io/max-replicas": str(desired + 3),
    }
    stamp = (dt.datetime(2026, 1, 1) + dt.timedelta(seconds=made)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "metadata": {"name": name, "creationTimestamp": stamp, "annotations": annotations},
        "spec": {"replicas": size},
        "status": {"availableReplicas": available, "replicas": size},
    }


def _wanting(count: int, surge: object, unavailable: object) -> Any:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    return {"metadata": {}, "spec": {"replicas": count, "strategy": rolling}, "status": {}}


@pytest.mark.parametrize(
    ("surge", "unavailable", "expected"),
    [("25%", "25%", (3, 2)), (1, 0, (1, 0)), ("1%", "0%", (1, 0)), ("0%", "1%", (0, 1)), (0, "100%", (0, 10))],
)
def test_surge_rounds_up_and_unavailable_down_but_never_both_to_zero(
    surge: object, unavailable: object, expected: tuple[int, int]
) -> None:
    wanting = _wanting(10, surge, unavailable)
    assert (max_surge(wanting), max_unavailable(wanting)) == expected


@pytest.mark.parametrize(("there", "new", "expected"), [(10, 0, 3), (12, 2, 3), (13, 3, 3), (4, 4, 10), (0, 0, 10)])
def test_the_new_replica_set_grows_within_the_surge(there: int, new: int, expected: int) -> None:
    every = [_set("old", there - new, there - new), _set("new", new, new)]
    assert new_size(_wanting(10, 3, 2), every, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([_set("o", 10, 10)], _set("n", 3, 0), {"o": 8}),
        ([_set("o", 10, 10)], _set("n", 0, 0), {"o": 8}),
        ([_set("o", 8, 8)], _set("n", 5, 0), {}),
        ([_set("o", 8, 8)], _set("n", 5, 5), {"o": 3}),
        ([_set("a", 4, 4), _set("b", 6, 3, made=1)], _set("n", 3, 3), {"a": 2, "b": 3}),
        ([_set("a", 4, 4), _set("b", 6, 6, made=1)], _set("n", 3, 3), {"a": 0, "b": 5}),
    ],
    ids=["to the limit", "no new yet", "not available yet", "all available", "unhealthy first", "oldest first"],
)
def test_old_replica_sets_shrink_as_far_as_availability_allows(
    old: list[Any], new: Any, expected: dict[str, int]
) -> None:
    assert shrunk(_wanting(10, 3, 2), old, new) == expected


@pytest.mark.parametrize(
    ("count", "old", "new", "expected"),
    [
        (20, [], _set("n", 10, 10), {"n": 20}),
        (20, [_set("o", 8, 8)], _set("n", 5, 5, made=1), {"o": 14, "n": 9}),
        (5, [_set("o", 8, 8)], _set("n", 5, 5, made=1), {"o": 5, "n": 3}),
        (10, [_set("o", 3, 3)], _set("n", 10, 10), {"o": 0}),
        (0, [_set("o", 8, 8)], _set("n", 5, 5), {"o": 0, "n": 0}),
    ],
    ids=["one set", "up", "down", "saturated", "to nothing"],
)
def test_scaling_during_a_rollout_is_proportional(
    count: int, old: list[Any], new: Any, expected: dict[str, int]
) -> None:
    assert resized(_wanting(count, 3, 2), old, new) == expected


def test_the_hash_label_does_not_make_templates_differ() -> None:
    one, other = template(), template(labels={**LABELS, "pod-template-hash": "x"})
    assert same_template(one, other)
    assert not same_template(one, template(annotations={"x": "y"}))
    assert template_hash(one, None) != template_hash(one, 1)


def test_annotations_are_copied_except_internal_ones() -> None:
    made: Any = {
        "metadata": {"annotations": {"x": "y", REVISION: "9", "kubectl.kubernetes.io/last-applied-configuration": "z"}}
    }
    assert new_annotations(made, {REVISION: "1"}, 3) == {
        "x": "y",
        REVISION: "3",
        "deployment.kubernetes.io/revision-history": "1",
    }
