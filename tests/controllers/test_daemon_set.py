"""Tests of DaemonSets on a server: placement, rollouts, revisions, failed Pods, status."""

import asyncio
import datetime as dt
from typing import Any

import pytest

from sampan.client import DeleteOptions, StrategicMergePatch
from sampan.component_base.resources import CONTROLLER_REVISIONS, DAEMON_SETS, NODES, PODS
from sampan.component_base.views import NODE_VIEW, POD_VIEW
from sampan.controllers import daemon_set
from sampan.controllers.daemon_set.controller import status
from sampan.controllers.daemon_set.failure_backoff import FailureBackoff
from sampan.controllers.daemon_set.state import observe
from sampan.resource import meta
from tests.controllers.cluster import Working, cluster, working

LABELS = {"app": "agent"}
HASH = "controller-revision-hash"


def agent(*, image: str = "one", pod: Any | None = None, **spec: Any) -> Any:
    """A DaemonSet."""
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": image}], **(pod or {})}}
    return {
        "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": LABELS}, "template": template, **spec},
    }


def rolling(**limits: int | str) -> Any:
    """An update strategy."""
    return {"type": "RollingUpdate", "rollingUpdate": limits}


def of_image(image: str) -> Any:
    """A patch to another template."""
    return {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}}


async def add_nodes(c: Working, *names: str, labels: dict[str, str] | None = None, **spec: Any) -> None:
    """Create Nodes."""
    for name in names:
        await c.create(NODES, {"metadata": {"name": name, "labels": labels or {}}, "spec": spec})


def node_of(pod: Any) -> str:
    """Return the Node that a Pod targets."""
    required = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return str(required["nodeSelectorTerms"][0]["matchFields"][0]["values"][0])


def images(pods: list[Any]) -> list[str]:
    """Return the images of Pods, by Node."""
    return [pod["spec"]["containers"][0]["image"] for pod in sorted(pods, key=node_of)]


async def pods_on(c: Working, *nodes: str) -> list[Any]:
    """Wait until there are Pods for exactly these Nodes, and return them."""
    pods = await c.until_all(PODS, lambda pods: sorted(node_of(pod) for pod in pods) == sorted(nodes))
    return sorted(pods, key=node_of)


async def reported(c: Working, **counts: int) -> Any:
    """Wait for these numbers in the status of the current generation, and return the DaemonSet."""
    return await c.until(
        DAEMON_SETS,
        "agent",
        lambda each: (
            each["status"].get("observedGeneration") == each["metadata"]["generation"]
            and all(each["status"].get(name, 0) == count for name, count in counts.items())
        ),
    )


async def all_ready(c: Working, *nodes: str) -> None:
    """Make the Pods of these Nodes ready."""
    for pod in await pods_on(c, *nodes):
        await c.make_ready(pod)


async def test_each_node_gets_a_pod_that_is_pinned_to_it() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a", "b")
        owner = await c.create(DAEMON_SETS, agent())
        pods = await pods_on(c, "a", "b")
        [revision] = await c.all(CONTROLLER_REVISIONS)
        for pod in pods:
            [reference] = meta(pod).owner_references
            assert (reference.kind, reference.uid, reference.controller) == ("DaemonSet", meta(owner).uid, True)
            assert pod["metadata"]["generateName"] == "agent-"
            assert pod["metadata"]["labels"] == {
                "app": "agent",
                HASH: meta(revision).labels[HASH],
                "pod-template-generation": "1",
            }
        await add_nodes(c, "d")
        await pods_on(c, "a", "b", "d")
        [first, *_] = await c.events("SuccessfulCreate")
        assert first["message"].startswith("Created pod: agent-")


async def test_daemon_pods_tolerate_node_conditions() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a")
        await c.create(DAEMON_SETS, agent(pod={"hostNetwork": True}))
        [pod] = await pods_on(c, "a")
        tolerated = {
            (each["key"].removeprefix("node.kubernetes.io/"), each["effect"]) for each in pod["spec"]["tolerations"]
        }
        assert tolerated == {
            ("not-ready", "NoExecute"),
            ("unreachable", "NoExecute"),
            ("disk-pressure", "NoSchedule"),
            ("memory-pressure", "NoSchedule"),
            ("pid-pressure", "NoSchedule"),
            ("unschedulable", "NoSchedule"),
            ("network-unavailable", "NoSchedule"),
        }


async def test_status_counts_nodes() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a", "b")
        await c.create(DAEMON_SETS, agent())
        [first, _] = await pods_on(c, "a", "b")
        await c.make_ready(first)
        found = await reported(c, desiredNumberScheduled=2, numberReady=1)
        assert found["status"] == {
            "observedGeneration": 1,
            "desiredNumberScheduled": 2,
            "currentNumberScheduled": 2,
            "updatedNumberScheduled": 2,
            "numberReady": 1,
            "numberAvailable": 1,
            "numberUnavailable": 1,
            "numberMisscheduled": 0,
        }
        nodes, pods = list(await c.client.resource(NODE_VIEW).list()), list(await c.client.resource(POD_VIEW).list())
        hashed = pods[0].metadata.labels[HASH]
        assert status(observe(found, hashed, nodes, pods, dt.datetime.now(dt.UTC)), 0) == found["status"]


async def test_a_node_gets_a_pod_once_it_matches() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a", "b")
        await c.create(DAEMON_SETS, agent(pod={"nodeSelector": {"disk": "ssd"}}))
        await reported(c, desiredNumberScheduled=0)
        await c.patch(NODES, "b", {"metadata": {"labels": {"disk": "ssd"}}})
        await pods_on(c, "b")
        await c.patch(NODES, "b", {"metadata": {"labels": {"disk": None}}})
        await pods_on(c)


async def test_a_no_schedule_taint_leaves_a_running_pod_misscheduled() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a")
        await c.create(DAEMON_SETS, agent())
        await pods_on(c, "a")
        await c.patch(NODES, "a", {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}})
        await reported(c, desiredNumberScheduled=0, numberMisscheduled=1)
        assert len(await c.all(PODS)) == 1
        await c.patch(NODES, "a", {"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}})
        await pods_on(c)


async def test_a_pending_pod_for_a_deleted_node_is_deleted() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a", "b")
        await c.create(DAEMON_SETS, agent())
        await pods_on(c, "a", "b")
        await c.delete(NODES, "b")
        await pods_on(c, "a")


async def test_failed_pods_are_replaced_with_backoff() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a")
        await c.create(DAEMON_SETS, agent())
        [first] = await pods_on(c, "a")
        await reported(c, currentNumberScheduled=1)
        await c.patch_status(PODS, meta(first).name, {"phase": "Failed"})
        await c.until_gone(PODS, meta(first).name)
        [event] = await c.events("FailedDaemonPod")
        text = f"Found failed daemon pod default/{meta(first).name} on node a, will try to kill it"
        assert (event["type"], event["message"]) == ("Warning", text)
        [second] = await pods_on(c, "a")
        found = {"phase": "Failed", "conditions": [{"type": "Ready", "status": "True"}]}
        await c.patch_status(PODS, meta(second).name, found)
        await reported(c, numberReady=1)
        assert await c.exists(PODS, meta(second).name)


async def test_a_succeeded_pod_is_replaced() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a")
        await c.create(DAEMON_SETS, agent())
        [first] = await pods_on(c, "a")
        await c.patch_status(PODS, meta(first).name, {"phase": "Succeeded"})
        await c.until_gone(PODS, meta(first).name)
        await pods_on(c, "a")
        [event] = await c.events("SucceededDaemonPod")
        assert event["type"] == "Normal"


async def test_a_rejected_pod_causes_an_event_and_does_not_block_the_status() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a")
        owner = agent()
        owner["spec"]["template"]["metadata"]["finalizers"] = ["unqualified"]
        await c.create(DAEMON_SETS, owner)
        await reported(c, desiredNumberScheduled=1, currentNumberScheduled=0, numberUnavailable=1)
        [event, *_] = await c.events("FailedCreate")
        assert event["message"].startswith("Error creating: ")


async def test_an_orphan_on_a_node_is_adopted_and_counted() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a")
        spec = {**agent()["spec"]["template"]["spec"], "nodeName": "a"}
        await c.create(PODS, {"metadata": {"name": "orphan", "labels": LABELS}, "spec": spec})
        owner = await c.create(DAEMON_SETS, agent(updateStrategy={"type": "OnDelete"}))
        pod = await c.until(PODS, "orphan", lambda pod: meta(pod).owner_references)
        assert [each.uid for each in meta(pod).owner_references] == [meta(owner).uid]
        await reported(c, currentNumberScheduled=1, updatedNumberScheduled=0)
        assert len(await c.all(PODS)) == 1


async def test_a_pod_that_no_longer_matches_is_released_and_replaced() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a")
        await c.create(DAEMON_SETS, agent())
        [first] = await pods_on(c, "a")
        await c.patch(PODS, meta(first).name, {"metadata": {"labels": {"app": "other"}}})
        await c.until(PODS, meta(first).name, lambda pod: not meta(pod).owner_references)
        await pods_on(c, "a", "a")


async def test_an_update_replaces_up_to_max_unavailable_pods() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a", "b", "d")
        await c.create(DAEMON_SETS, agent(updateStrategy=rolling(maxUnavailable="50%")))
        await all_ready(c, "a", "b", "d")
        await reported(c, numberAvailable=3)
        await c.patch(DAEMON_SETS, "agent", of_image("two"))
        await reported(c, numberAvailable=1, updatedNumberScheduled=2)
        pods = await pods_on(c, "a", "b", "d")
        assert images(pods) == ["two", "two", "one"]
        await c.make_ready(pods[0])
        await reported(c, numberAvailable=1, updatedNumberScheduled=3)
        await all_ready(c, "a", "b", "d")
        await reported(c, numberAvailable=3, updatedNumberScheduled=3)
        assert {meta(pod).labels["pod-template-generation"] for pod in await c.all(PODS)} == {"2"}


async def test_with_surge_the_old_pod_is_deleted_when_the_new_one_is_available() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a", "b")
        await c.create(DAEMON_SETS, agent(updateStrategy=rolling(maxSurge=1, maxUnavailable=0)))
        await all_ready(c, "a", "b")
        await reported(c, numberAvailable=2)
        await c.patch(DAEMON_SETS, "agent", of_image("two"))
        pods = await pods_on(c, "a", "a", "b")
        [new] = [pod for pod in pods if images([pod]) == ["two"]]
        await c.make_ready(new)
        await c.until_all(PODS, lambda pods: sorted(map(node_of, pods)) == ["a", "b", "b"])
        assert sorted(images(await c.all(PODS))) == ["one", "two", "two"]


async def test_on_delete_updates_only_deleted_pods() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a")
        await c.create(DAEMON_SETS, agent(updateStrategy={"type": "OnDelete"}))
        await all_ready(c, "a")
        await c.patch(DAEMON_SETS, "agent", of_image("two"))
        await reported(c, updatedNumberScheduled=0, numberReady=1)
        [pod] = await pods_on(c, "a")
        assert images([pod]) == ["one"]
        await c.delete(PODS, meta(pod).name)
        await c.until_all(PODS, lambda pods: images(pods) == ["two"])


async def test_a_rollback_gives_the_old_revision_the_highest_number() -> None:
    async with cluster(daemon_set.set_up) as c:
        await c.create(DAEMON_SETS, agent())
        [first] = await c.until_all(CONTROLLER_REVISIONS, lambda found: len(found) == 1)
        await c.patch(DAEMON_SETS, "agent", of_image("two"))
        await c.until_all(CONTROLLER_REVISIONS, lambda found: len(found) == 2)
        await c.client.resource(DAEMON_SETS).patch("agent", StrategicMergePatch(first["data"]))
        await c.until(CONTROLLER_REVISIONS, meta(first).name, lambda each: each["revision"] == 3)
        assert sorted(each["revision"] for each in await c.all(CONTROLLER_REVISIONS)) == [2, 3]


async def test_revisions_beyond_the_history_limit_are_deleted() -> None:
    async with cluster(daemon_set.set_up) as c:
        await c.create(DAEMON_SETS, agent(revisionHistoryLimit=1))
        for image in ("two", "three", "four"):
            await reported(c)
            await c.patch(DAEMON_SETS, "agent", of_image(image))
        await reported(c)
        await c.until_all(CONTROLLER_REVISIONS, lambda found: sorted(each["revision"] for each in found) == [3, 4])


async def test_equal_revisions_are_merged_into_one() -> None:
    async with cluster() as c:
        await add_nodes(c, "a")
        async with working(c.client, daemon_set.set_up):
            await c.create(DAEMON_SETS, agent())
            [pod] = await pods_on(c, "a")
            await reported(c)
        [first] = await c.all(CONTROLLER_REVISIONS)
        labels = {key: value for key, value in meta(first).labels.items() if key != HASH}
        twin = {"metadata": {"name": "twin", "labels": labels}, "data": first["data"], "revision": 5}
        await c.create(CONTROLLER_REVISIONS, twin)
        async with working(c.client, daemon_set.set_up):
            await c.until_gone(CONTROLLER_REVISIONS, meta(first).name)
            [left] = await c.all(CONTROLLER_REVISIONS)
            assert meta(left).name == meta(left).labels[HASH] == "twin"
            assert [each.kind for each in meta(left).owner_references] == ["DaemonSet"]
            await c.until(PODS, meta(pod).name, lambda pod: meta(pod).labels[HASH] == "twin")


async def test_a_name_of_another_revision_counts_as_a_collision() -> None:
    async with cluster() as c:
        async with working(c.client, daemon_set.set_up):
            await c.create(DAEMON_SETS, agent())
            await reported(c)
        [revision] = await c.all(CONTROLLER_REVISIONS)
        await c.delete(CONTROLLER_REVISIONS, meta(revision).name)
        other = {"metadata": {"name": meta(revision).name}, "revision": 7, "data": {"spec": {"template": {}}}}
        await c.create(CONTROLLER_REVISIONS, other)
        async with working(c.client, daemon_set.set_up):
            await reported(c, collisionCount=1)


async def test_a_daemon_set_that_is_being_deleted_creates_no_pods() -> None:
    async with cluster(daemon_set.set_up) as c:
        await add_nodes(c, "a")
        owner = agent()
        owner["metadata"]["finalizers"] = ["example.com/stay"]
        await c.create(DAEMON_SETS, owner)
        [pod] = await pods_on(c, "a")
        await c.delete(DAEMON_SETS, "agent")
        await c.client.resource(PODS).delete(meta(pod).name, DeleteOptions(grace_period_seconds=0))
        await c.create(DAEMON_SETS, {**agent(), "metadata": {"name": "other"}})
        await c.until(DAEMON_SETS, "other", lambda each: each["status"].get("currentNumberScheduled"))
        assert [each.name for each in meta((await c.all(PODS))[0]).owner_references] == ["other"]


async def test_after_a_restart_nothing_is_created_twice() -> None:
    async with cluster() as c:
        names = [f"n{number}" for number in range(10)]
        await add_nodes(c, *names)
        await c.create(DAEMON_SETS, agent())
        for _ in range(3):
            async with working(c.client, daemon_set.set_up):
                await asyncio.sleep(0.02)
        async with working(c.client, daemon_set.set_up):
            await reported(c, currentNumberScheduled=10)
            assert sorted(node_of(pod) for pod in await c.all(PODS)) == names
            assert len(await c.all(CONTROLLER_REVISIONS)) == 1


async def test_after_a_restart_an_update_is_completed() -> None:
    async with cluster() as c:
        await add_nodes(c, "a", "b")
        async with working(c.client, daemon_set.set_up):
            await c.create(DAEMON_SETS, agent())
            await all_ready(c, "a", "b")
            await reported(c, numberAvailable=2)
            await c.patch(DAEMON_SETS, "agent", of_image("two"))
            await c.until_all(PODS, lambda pods: "two" in images(pods))
        async with working(c.client, daemon_set.set_up):
            await all_ready(c, "a", "b")
            await c.until_all(PODS, lambda pods: images(pods) == ["two", "two"])
            await all_ready(c, "a", "b")
            await reported(c, numberAvailable=2, updatedNumberScheduled=2)
        assert sorted(each["revision"] for each in await c.all(CONTROLLER_REVISIONS)) == [1, 2]


async def test_a_node_queues_only_matching_daemon_sets() -> None:
    async with cluster(daemon_set.set_up) as c:
        other = agent(pod={"nodeSelector": {"gpu": "yes"}})
        await c.create(DAEMON_SETS, {**other, "metadata": {"name": "other"}})
        await c.create(DAEMON_SETS, agent())
        await add_nodes(c, "a")
        await reported(c, currentNumberScheduled=1)
        found = await c.get(DAEMON_SETS, "other")
        assert found["status"]["desiredNumberScheduled"] == 0


def test_backoff_doubles_and_expires() -> None:
    backoff = FailureBackoff()
    assert backoff.left_s("a", 0.0) == 0
    backoff.replaced("a", 0.0)
    assert (backoff.left_s("a", 0.25), backoff.left_s("a", 1.0), backoff.left_s("b", 0.0)) == (0.75, 0, 0)
    backoff.replaced("a", 1.0)
    assert backoff.left_s("a", 1.0) == 2.0
    for _ in range(20):
        backoff.replaced("a", 2.0)
    assert backoff.left_s("a", 2.0) == 900.0
    backoff.replaced("a", 2000.0)
    assert backoff.left_s("a", 2000.0) == 1.0


@pytest.mark.parametrize("percent", ["0%", 0], ids=str)
async def test_a_strategy_with_zero_limits_replaces_one_pod_at_a_time(percent: int | str) -> None:
    now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    owner = agent(updateStrategy=rolling(maxUnavailable=percent, maxSurge=0))
    node = NODE_VIEW.decode(b'{"metadata":{"name":"a"}}')
    assert observe(owner, "h", [node], [], now).max_unavailable == 1
