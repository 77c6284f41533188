"""Tests of ReplicaSets and ReplicationControllers: scale, adoption, release, status, order of deletion."""

import asyncio
import datetime as dt
from typing import Any

import pytest

from sampan.component_base.resources import PODS, REPLICA_SETS, REPLICATION_CONTROLLERS
from sampan.component_base.views import Pod, PodCondition, PodSpec, PodStatus
from sampan.controllers import replica_set
from sampan.controllers.workloads.pod_deletion_order import DELETION_COST, first_to_delete
from sampan.controllers.workloads.slow_start import slow_start
from sampan.resource import Object, ObjectMeta, meta
from tests.controllers.cluster import cluster, working

LABELS = {"app": "a"}
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def template(**metadata: object) -> Any:
    """A template of one container."""
    return {"metadata": {"labels": LABELS, **metadata}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def replicas(count: int, **spec: object) -> Object:
    """A ReplicaSet."""
    selector = {"matchLabels": LABELS}
    return {
        "metadata": {"name": "a"},
        "spec": {"replicas": count, "selector": selector, "template": template(), **spec},
    }


def pod(name: str, **metadata: object) -> Object:
    """A Pod that matches the ReplicaSet."""
    return {"metadata": {"name": name, "labels": LABELS, **metadata}, "spec": template()["spec"]}


async def test_the_desired_number_of_pods_is_created() -> None:
    async with cluster(replica_set.set_up) as c:
        owner = await c.create(REPLICA_SETS, replicas(7))
        for made in await c.pods(7):
            [reference] = meta(made).owner_references
            assert (reference.kind, reference.uid, reference.controller) == ("ReplicaSet", meta(owner).uid, True)
            assert made["metadata"]["generateName"] == "a-"
            assert made["metadata"]["labels"] == LABELS
        found = await c.until(REPLICA_SETS, "a", lambda rs: rs["status"].get("replicas") == 7)
        assert found["status"] == {"replicas": 7, "fullyLabeledReplicas": 7, "observedGeneration": 1}
        assert len(await c.all(PODS)) == 7


async def test_template_annotations_and_finalizers_are_copied() -> None:
    async with cluster(replica_set.set_up) as c:
        made = template(annotations={"x": "y"}, finalizers=["example.com/f"])
        await c.create(REPLICA_SETS, replicas(1, template=made))
        [found] = await c.pods(1)
        assert (found["metadata"]["annotations"], found["metadata"]["finalizers"]) == ({"x": "y"}, ["example.com/f"])


async def test_scaling_deletes_and_creates_pods() -> None:
    async with cluster(replica_set.set_up) as c:
        await c.create(REPLICA_SETS, replicas(5))
        await c.pods(5)
        await c.patch(REPLICA_SETS, "a", {"spec": {"replicas": 2}})
        await c.pods(2)
        await c.patch(REPLICA_SETS, "a", {"spec": {"replicas": 4}})
        await c.pods(4)


async def test_ended_and_deleted_pods_are_replaced() -> None:
    async with cluster(replica_set.set_up) as c:
        await c.create(REPLICA_SETS, replicas(2))
        first, second = await c.pods(2)
        await c.patch_status(PODS, first["metadata"]["name"], {"phase": "Failed"})
        await c.delete(PODS, second["metadata"]["name"])
        await c.until_all(PODS, lambda pods: len(pods) == 3 and second not in pods)


async def test_ready_and_available_pods_are_counted() -> None:
    async with cluster(replica_set.set_up) as c:
        await c.create(REPLICA_SETS, replicas(2))
        first, _ = await c.pods(2)
        await c.make_ready(first)
        found = await c.until(REPLICA_SETS, "a", lambda rs: rs["status"].get("readyReplicas"))
        assert (found["status"]["readyReplicas"], found["status"]["availableReplicas"]) == (1, 1)


async def test_a_pod_becomes_available_when_it_has_been_ready_long_enough() -> None:
    async with cluster(replica_set.set_up) as c:
        await c.create(REPLICA_SETS, replicas(1, minReadySeconds=3))
        [made] = await c.pods(1)
        await c.make_ready(made, since=dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
        ready = await c.until(REPLICA_SETS, "a", lambda rs: rs["status"].get("readyReplicas") == 1)
        assert not ready["status"].get("availableReplicas")
        await c.until(REPLICA_SETS, "a", lambda rs: rs["status"].get("availableReplicas") == 1)


async def test_matching_orphans_are_adopted_instead_of_creating_pods() -> None:
    async with cluster(replica_set.set_up) as c:
        await c.create(PODS, pod("orphan"))
        owner = await c.create(REPLICA_SETS, replicas(1))
        adopted = await c.until(PODS, "orphan", lambda obj: meta(obj).owner_references)
        assert meta(adopted).owner_references[0].uid == meta(owner).uid
        await c.until(REPLICA_SETS, "a", lambda rs: rs["status"].get("replicas") == 1)
        assert len(await c.all(PODS)) == 1


async def test_a_late_orphan_is_adopted_and_a_surplus_pod_deleted() -> None:
    async with cluster(replica_set.set_up) as c:
        await c.create(REPLICA_SETS, replicas(1))
        await c.pods(1)
        await c.create(PODS, pod("late"))
        [left] = await c.pods(1)
        assert meta(left).owner_references


async def test_pods_of_other_owners_are_ignored() -> None:
    async with cluster(replica_set.set_up) as c:
        other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u", "controller": True}
        await c.create(PODS, pod("theirs", ownerReferences=[other]))
        await c.create(REPLICA_SETS, replicas(1))
        await c.pods(2)
        assert meta(await c.get(PODS, "theirs")).owner_references[0].uid == "u"


async def test_a_pod_that_no_longer_matches_is_released_and_replaced() -> None:
    async with cluster(replica_set.set_up) as c:
        await c.create(REPLICA_SETS, replicas(1))
        [made] = await c.pods(1)
        name = made["metadata"]["name"]
        await c.patch(PODS, name, {"metadata": {"labels": {"app": "debug"}}})
        await c.until(PODS, name, lambda obj: not meta(obj).owner_references)
        await c.pods(2)


async def test_a_set_that_is_being_deleted_creates_no_pods() -> None:
    async with cluster(replica_set.set_up) as c:
        owner = replicas(0)
        owner["metadata"]["finalizers"] = ["example.com/hold"]
        await c.create(REPLICA_SETS, owner)
        await c.until(REPLICA_SETS, "a", lambda rs: rs["status"].get("observedGeneration") == 1)
        await c.delete(REPLICA_SETS, "a")
        await c.patch(REPLICA_SETS, "a", {"spec": {"replicas": 3}})
        await c.until(REPLICA_SETS, "a", lambda rs: rs["status"]["observedGeneration"] >= 2)
        assert await c.all(PODS) == []


async def test_a_rejected_pod_is_reported_in_status_and_events() -> None:
    async with cluster(replica_set.set_up) as c:
        owner = template(finalizers=["unqualified"])
        await c.create(REPLICA_SETS, replicas(2, template=owner))
        found = await c.until(REPLICA_SETS, "a", lambda rs: rs["status"].get("conditions"))
        [condition] = found["status"]["conditions"]
        assert (condition["type"], condition["status"], condition["reason"]) == (
            "ReplicaFailure",
            "True",
            "FailedCreate",
        )
        await c.events("FailedCreate")


async def test_replication_controllers_work_with_a_plain_selector() -> None:
    async with cluster(replica_set.set_up_replication) as c:
        spec = {"replicas": 2, "selector": LABELS, "template": template()}
        await c.create(REPLICATION_CONTROLLERS, {"metadata": {"name": "a"}, "spec": spec})
        await c.pods(2)
        await c.until(REPLICATION_CONTROLLERS, "a", lambda rc: rc["status"].get("replicas") == 2)


async def test_after_a_restart_nothing_is_created_twice() -> None:
    async with cluster() as c:
        await c.create(REPLICA_SETS, replicas(30))
        for _ in range(3):
            async with working(c.client, replica_set.set_up):
                await asyncio.sleep(0.02)
        async with working(c.client, replica_set.set_up):
            await c.until(REPLICA_SETS, "a", lambda rs: rs["status"].get("replicas") == 30)
            assert len(await c.all(PODS)) == 30


def _view(name: str, **more: object) -> Pod:
    """A running, ready Pod on node n, with the same times as all others."""
    ready = str(more.pop("ready", "True"))
    annotations = {DELETION_COST: str(more.pop("cost"))} if "cost" in more else {}
    since = str(more.pop("since", "2025-12-31T23:00:00Z"))
    return Pod(
        metadata=ObjectMeta(name=name, uid=name, creation_timestamp=since, annotations=annotations),
        spec=PodSpec(node_name=str(more.pop("node", "n"))),
        status=PodStatus(
            phase=str(more.pop("phase", "Running")),
            conditions=[PodCondition("Ready", ready, last_transition_time=since)],
        ),
    )


@pytest.mark.parametrize(
    "first",
    [
        _view("z", node=""),
        _view("z", phase="Pending"),
        _view("z", phase="Unknown"),
        _view("z", ready="False"),
        _view("z", cost=-5),
        _view("z", since="2025-12-31T23:59:00Z"),
    ],
    ids=["not scheduled", "pending", "unknown", "not ready", "cheap", "young"],
)
def test_the_least_useful_pod_is_deleted_first(first: Pod) -> None:
    pods = [_view("a"), first, _view("b")]
    assert first_to_delete(pods, pods, 1, NOW) == [first]


def test_pods_on_crowded_nodes_are_deleted_first() -> None:
    pods = [_view("a", node="x"), _view("b", node="y"), _view("c", node="y")]
    assert first_to_delete(pods, pods, 1, NOW)[0].spec.node_name == "y"


def test_pods_of_about_the_same_age_are_ordered_by_uid() -> None:
    pods = [_view("b", since="2025-12-31T23:00:00Z"), _view("a", since="2025-12-31T22:59:50Z")]
    assert first_to_delete(pods, pods, 1, NOW)[0].metadata.name == "a"


async def test_batches_grow_while_calls_succeed() -> None:
    at_once: list[int] = []
    running = 0

    async def call(_: int) -> None:
        nonlocal running
        running += 1
        at_once.append(running)
        await asyncio.sleep(0)
        running -= 1

    assert await slow_start(10, call) == 10
    assert at_once == [1, 1, 2, 1, 2, 3, 4, 1, 2, 3]


async def test_no_batch_starts_after_a_failure() -> None:
    begun: list[int] = []

    async def call(index: int) -> None:
        begun.append(index)
        if index == 1:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await slow_start(100, call)
    assert begun == [0, 1, 2]
