"""Tests of StatefulSets on a server: order, names, claims, rollouts, revisions, status."""

import asyncio
import datetime as dt
from typing import Any

import pytest

from sampan.client import DeleteOptions, StrategicMergePatch
from sampan.component_base.resources import CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from sampan.component_base.views import POD_VIEW
from sampan.controllers import stateful_set
from sampan.controllers.stateful_set import plan
from sampan.controllers.workloads.history import data_of
from sampan.resource import meta
from tests.controllers.cluster import Working, cluster, working

LABELS = {"app": "web"}
CLAIM = {
    "metadata": {"name": "data", "labels": {"tier": "db"}},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def web(replicas: int, *, image: str = "one", **spec: Any) -> Any:
    """A StatefulSet."""
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": image}]}}
    desired = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": template, "serviceName": "svc"}
    return {"metadata": {"name": "web"}, "spec": {**desired, **spec}}


def of_image(image: str) -> Any:
    """A patch to another template."""
    return {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}}


def image_of(pod: Any) -> str:
    """Return the image of a Pod."""
    return str(pod["spec"]["containers"][0]["image"])


async def names(c: Working) -> list[str]:
    """Return the names of all Pods."""
    return [meta(pod).name for pod in await c.all(PODS)]


async def ready(c: Working, *ordinals: int) -> None:
    """Make Pods ready, each as soon as it exists."""
    for ordinal in ordinals:
        await c.make_ready(await c.until(PODS, f"web-{ordinal}", lambda pod: True))


async def settled(c: Working) -> Any:
    """Wait until the status of the current generation has all wanted numbers, and return the set."""
    return await c.until(
        STATEFUL_SETS,
        "web",
        lambda each: (
            each["status"].get("observedGeneration") == each["metadata"]["generation"]
            and each["status"].get("updatedReplicas", 0)
            == each["status"].get("readyReplicas", 0)
            == each["status"]["replicas"]
            == each["spec"]["replicas"]
        ),
    )


async def revisions(c: Working) -> list[int]:
    """Return the numbers of all revisions."""
    return sorted(each["revision"] for each in await c.all(CONTROLLER_REVISIONS))


async def has_revision(c: Working, number: int) -> None:
    """Wait for a revision."""
    await c.until_all(CONTROLLER_REVISIONS, lambda found: number in [each["revision"] for each in found])


async def test_pods_are_created_in_order_after_the_previous_is_ready() -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(3))
        await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("replicas") == 1)
        assert await names(c) == ["web-0"]
        await ready(c, 0)
        await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("replicas") == 2)
        assert await names(c) == ["web-0", "web-1"]
        await ready(c, 1, 2)
        found = await settled(c)
        revision = found["status"]["currentRevision"]
        assert found["status"] == {
            "observedGeneration": 1,
            "replicas": 3,
            "readyReplicas": 3,
            "availableReplicas": 3,
            "currentReplicas": 3,
            "updatedReplicas": 3,
            "currentRevision": revision,
            "updateRevision": revision,
            "collisionCount": 0,
        }


async def test_a_pod_has_its_identity() -> None:
    async with cluster(stateful_set.set_up) as c:
        owner = await c.create(STATEFUL_SETS, web(1, ordinals={"start": 5}))
        pod = await c.until(PODS, "web-5", lambda pod: True)
        revisions: Any = await c.all(CONTROLLER_REVISIONS)
        [revision] = revisions
        assert pod["metadata"]["labels"] == {
            "app": "web",
            "statefulset.kubernetes.io/pod-name": "web-5",
            "apps.kubernetes.io/pod-index": "5",
            "controller-revision-hash": meta(revision).name,
        }
        assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("web-5", "svc")
        [reference] = meta(pod).owner_references
        assert (reference.kind, reference.uid, reference.controller) == ("StatefulSet", meta(owner).uid, True)
        [event] = await c.events("SuccessfulCreate")
        assert event["message"] == "Create Pod web-5 in StatefulSet web successful"


async def test_parallel_management_creates_and_deletes_all_pods_at_once() -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(5, podManagementPolicy="Parallel"))
        await c.pods(5)
        await c.patch(STATEFUL_SETS, "web", {"spec": {"replicas": 1}})
        [left] = await c.pods(1)
        assert meta(left).name == "web-0"


async def test_scaling_down_deletes_the_highest_ordinal_when_lower_ones_are_ready() -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(3))
        await ready(c, 0, 1, 2)
        await settled(c)
        await c.patch_status(PODS, "web-0", {"conditions": [{"type": "Ready", "status": "False"}]})
        await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("readyReplicas") == 2)
        await c.patch(STATEFUL_SETS, "web", {"spec": {"replicas": 1}})
        await c.until(STATEFUL_SETS, "web", lambda each: each["status"]["observedGeneration"] == 2)
        assert await names(c) == ["web-0", "web-1", "web-2"]
        await ready(c, 0)
        await c.until_gone(PODS, "web-1")
        assert await names(c) == ["web-0"]
        [one, other] = await c.events("SuccessfulDelete")
        assert [one["message"], other["message"]] == [
            "Delete Pod web-2 in StatefulSet web successful",
            "Delete Pod web-1 in StatefulSet web successful",
        ]


async def test_an_ended_pod_is_created_again() -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(1))
        first = await c.until(PODS, "web-0", lambda pod: True)
        await c.patch_status(PODS, "web-0", {"phase": "Succeeded"})
        await c.until(PODS, "web-0", lambda pod: meta(pod).uid != meta(first).uid)


async def test_claims_are_created_before_their_pod_and_stay_after_it() -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(1, volumeClaimTemplates=[CLAIM]))
        pod = await c.until(PODS, "web-0", lambda pod: True)
        claim = await c.get(PERSISTENT_VOLUME_CLAIMS, "data-web-0")
        assert int(meta(claim).resource_version) < int(meta(pod).resource_version)
        assert claim["metadata"]["labels"] == {"tier": "db", "app": "web"}
        assert "ownerReferences" not in claim["metadata"]
        assert {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}} in pod["spec"]["volumes"]
        texts = {event["message"] for event in await c.events("SuccessfulCreate")}
        assert "Create Claim data-web-0 Pod web-0 in StatefulSet web success" in texts
        await c.patch(STATEFUL_SETS, "web", {"spec": {"replicas": 0}})
        await c.until_gone(PODS, "web-0")
        assert await c.exists(PERSISTENT_VOLUME_CLAIMS, "data-web-0")


async def test_a_missing_claim_of_a_pending_pod_is_created() -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(1, volumeClaimTemplates=[CLAIM]))
        await c.until(PODS, "web-0", lambda pod: True)
        first = await c.get(PERSISTENT_VOLUME_CLAIMS, "data-web-0")
        await c.patch(PERSISTENT_VOLUME_CLAIMS, "data-web-0", {"metadata": {"finalizers": None}})
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "data-web-0")
        await c.patch(PODS, "web-0", {"metadata": {"labels": {"touched": "yes"}}})
        await c.until(PERSISTENT_VOLUME_CLAIMS, "data-web-0", lambda claim: meta(claim).uid != meta(first).uid)


async def test_the_retention_policy_decides_when_claims_are_deleted() -> None:
    async with cluster(stateful_set.set_up) as c:
        policy = {"whenDeleted": "Delete", "whenScaled": "Delete"}
        owner = web(2, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy)
        owner = await c.create(STATEFUL_SETS, owner)
        await ready(c, 0, 1)
        for name in ("data-web-0", "data-web-1"):
            claim = await c.until(PERSISTENT_VOLUME_CLAIMS, name, lambda claim: meta(claim).owner_references)
            assert [each.uid for each in meta(claim).owner_references] == [meta(owner).uid]
        await settled(c)
        pod = await c.get(PODS, "web-1")
        await c.patch(PODS, "web-1", {"metadata": {"finalizers": ["example.com/stay"]}})
        await c.patch(STATEFUL_SETS, "web", {"spec": {"replicas": 1}})
        claim = await c.until(
            PERSISTENT_VOLUME_CLAIMS,
            "data-web-1",
            lambda claim: [each.kind for each in meta(claim).owner_references] == ["Pod"],
        )
        [reference] = meta(claim).owner_references
        assert (reference.uid, reference.controller) == (meta(pod).uid, True)
        await c.patch(PODS, "web-1", {"metadata": {"finalizers": None}})
        await c.until_gone(PODS, "web-1")


async def test_a_new_pod_waits_for_the_deletion_of_stale_claims() -> None:
    async with cluster(stateful_set.set_up) as c:
        stale = {"apiVersion": "v1", "kind": "Pod", "name": "web-0", "uid": "gone", "controller": True}
        left_over = {"metadata": {"name": "data-web-0", "ownerReferences": [stale]}, "spec": CLAIM["spec"]}
        await c.create(PERSISTENT_VOLUME_CLAIMS, left_over)
        policy = {"whenDeleted": "Retain", "whenScaled": "Delete"}
        owner = web(1, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy)
        await c.create(STATEFUL_SETS, owner)
        await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("observedGeneration"))
        assert await names(c) == []
        await c.patch(PERSISTENT_VOLUME_CLAIMS, "data-web-0", {"metadata": {"finalizers": None}})
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "data-web-0")
        await c.until(PODS, "web-0", lambda pod: True)


async def test_a_rejected_pod_causes_an_event_and_does_not_block_the_status() -> None:
    async with cluster(stateful_set.set_up) as c:
        owner = web(1)
        owner["spec"]["template"]["metadata"]["finalizers"] = ["unqualified"]
        await c.create(STATEFUL_SETS, owner)
        await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("observedGeneration"))
        [event, *_] = await c.events("FailedCreate")
        assert event["message"].startswith("Create Pod web-0 in StatefulSet web failed error: ")


async def test_a_rejected_claim_causes_an_event_and_no_pod() -> None:
    async with cluster(stateful_set.set_up) as c:
        claim = {"metadata": {"name": "data", "finalizers": ["unqualified"]}, "spec": CLAIM["spec"]}
        await c.create(STATEFUL_SETS, web(1, volumeClaimTemplates=[claim]))
        texts = [event["message"] for event in await c.events("FailedCreate")]
        assert texts[0].startswith("Create Claim data-web-0 for Pod web-0 in StatefulSet web failed error: ")
        assert await names(c) == []


async def test_a_pod_waits_for_a_terminating_claim() -> None:
    async with cluster() as c:
        going = {"metadata": {"name": "data-web-0", "finalizers": ["example.com/stay"]}, "spec": CLAIM["spec"]}
        await c.create(PERSISTENT_VOLUME_CLAIMS, going)
        await c.delete(PERSISTENT_VOLUME_CLAIMS, "data-web-0")
        await c.create(STATEFUL_SETS, web(1, volumeClaimTemplates=[CLAIM]))
        async with working(c.client, stateful_set.set_up):
            [event, *_] = await c.events("FailedCreate")
            text = "Create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is being deleted"
            assert event["message"] == text
            await c.patch(PERSISTENT_VOLUME_CLAIMS, "data-web-0", {"metadata": {"finalizers": None}})
            await c.until(PODS, "web-0", lambda pod: True)


async def test_a_claim_of_another_controller_causes_an_event_and_is_not_changed() -> None:
    async with cluster(stateful_set.set_up) as c:
        other = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u", "controller": True}
        theirs = {"metadata": {"name": "data-web-0", "ownerReferences": [other]}, "spec": CLAIM["spec"]}
        await c.create(PERSISTENT_VOLUME_CLAIMS, theirs)
        policy = {"whenDeleted": "Delete", "whenScaled": "Retain"}
        owner = web(1, volumeClaimTemplates=[CLAIM], persistentVolumeClaimRetentionPolicy=policy)
        await c.create(STATEFUL_SETS, owner)
        await c.events("ConflictingController")
        await c.until(PODS, "web-0", lambda pod: True)
        claim = await c.get(PERSISTENT_VOLUME_CLAIMS, "data-web-0")
        assert [each.kind for each in meta(claim).owner_references] == ["ConfigMap"]


async def test_a_pod_that_cannot_be_repaired_causes_an_event() -> None:
    async with cluster() as c:
        spec = web(1)["spec"]["template"]["spec"]
        await c.create(PODS, {"metadata": {"name": "web-0", "labels": LABELS}, "spec": spec})
        await ready(c, 0)
        async with working(c.client, stateful_set.set_up):
            await c.create(STATEFUL_SETS, web(1, volumeClaimTemplates=[CLAIM]))
            [event, *_] = await c.events("FailedUpdate")
            assert event["message"].startswith("Update Pod web-0 in StatefulSet web failed error: ")
            await c.until(PERSISTENT_VOLUME_CLAIMS, "data-web-0", lambda claim: True)


async def test_an_update_proceeds_from_the_highest_ordinal_and_waits_for_each_pod() -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(3))
        await ready(c, 0, 1, 2)
        before = (await settled(c))["status"]["updateRevision"]
        await c.patch(STATEFUL_SETS, "web", of_image("two"))
        await c.until(PODS, "web-2", lambda pod: image_of(pod) == "two")
        found = await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("updatedReplicas") == 1)
        assert (found["status"]["currentRevision"], found["status"]["currentReplicas"]) == (before, 2)
        assert [image_of(pod) for pod in await c.all(PODS)] == ["one", "one", "two"]
        await ready(c, 2)
        await c.until(PODS, "web-1", lambda pod: image_of(pod) == "two")
        await ready(c, 1)
        await c.until(PODS, "web-0", lambda pod: image_of(pod) == "two")
        await ready(c, 0)
        after = await settled(c)
        assert after["status"]["currentRevision"] == after["status"]["updateRevision"] != before
        assert await revisions(c) == [1, 2]


async def test_pods_below_the_partition_stay_at_the_current_revision() -> None:
    async with cluster(stateful_set.set_up) as c:
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
        await c.create(STATEFUL_SETS, web(2, updateStrategy=strategy))
        await ready(c, 0, 1)
        await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("readyReplicas") == 2)
        await c.patch(STATEFUL_SETS, "web", of_image("two"))
        await c.until(PODS, "web-1", lambda pod: image_of(pod) == "two")
        await ready(c, 1)
        await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("readyReplicas") == 2)
        first = await c.get(PODS, "web-0")
        await c.delete(PODS, "web-0")
        again = await c.until(PODS, "web-0", lambda pod: meta(pod).uid != meta(first).uid)
        assert image_of(again) == "one"


async def test_on_delete_updates_only_deleted_pods() -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(1, updateStrategy={"type": "OnDelete"}))
        await ready(c, 0)
        await settled(c)
        await c.patch(STATEFUL_SETS, "web", of_image("two"))
        await c.until(STATEFUL_SETS, "web", lambda each: each["status"]["observedGeneration"] == 2)
        assert image_of(await c.get(PODS, "web-0")) == "one"
        await c.delete(PODS, "web-0")
        await c.until(PODS, "web-0", lambda pod: image_of(pod) == "two")


async def test_a_broken_rollout_waits_until_its_pod_is_deleted() -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(1, image="broken"))
        await c.until(PODS, "web-0", lambda pod: True)
        await c.patch(STATEFUL_SETS, "web", of_image("good"))
        await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("observedGeneration") == 2)
        assert image_of(await c.get(PODS, "web-0")) == "broken"
        await c.delete(PODS, "web-0")
        await c.until(PODS, "web-0", lambda pod: image_of(pod) == "good")


async def test_a_rollback_gives_the_old_revision_the_highest_number() -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(0))
        await c.until_all(CONTROLLER_REVISIONS, lambda found: len(found) == 1)
        [first] = await c.all(CONTROLLER_REVISIONS)
        await c.patch(STATEFUL_SETS, "web", of_image("two"))
        await c.until_all(CONTROLLER_REVISIONS, lambda found: len(found) == 2)
        # As `kubectl rollout undo` does it: the data of a revision is the patch.
        await c.client.resource(STATEFUL_SETS).patch("web", StrategicMergePatch(first["data"]))
        again = await c.until(CONTROLLER_REVISIONS, meta(first).name, lambda each: each["revision"] == 3)
        assert again["data"]["spec"]["template"]["$patch"] == "replace"
        found = await c.until(STATEFUL_SETS, "web", lambda each: each["status"]["observedGeneration"] == 3)
        assert found["status"]["updateRevision"] == meta(first).name
        assert image_of({"spec": found["spec"]["template"]["spec"]}) == "one"


async def test_revisions_beyond_the_history_limit_are_deleted() -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(0, revisionHistoryLimit=1))
        for number, image in ((2, "two"), (3, "three"), (4, "four")):
            await c.patch(STATEFUL_SETS, "web", of_image(image))
            await has_revision(c, number)
        await c.until_all(CONTROLLER_REVISIONS, lambda found: [each["revision"] for each in found].count(2) == 0)
        assert await revisions(c) == [3, 4]


async def test_a_name_of_another_revision_counts_as_a_collision() -> None:
    async with cluster() as c:
        async with working(c.client, stateful_set.set_up):
            await c.create(STATEFUL_SETS, web(0))
            await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("observedGeneration"))
        revisions: Any = await c.all(CONTROLLER_REVISIONS)
        [revision] = revisions
        await c.delete(CONTROLLER_REVISIONS, meta(revision).name)
        other = {"metadata": {"name": meta(revision).name}, "revision": 7, "data": {"spec": {"template": {}}}}
        await c.create(CONTROLLER_REVISIONS, other)
        async with working(c.client, stateful_set.set_up):
            found = await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("collisionCount"))
        assert found["status"]["collisionCount"] == 1
        assert found["status"]["updateRevision"] != meta(revision).name


async def test_a_matching_orphan_is_adopted_and_gets_its_labels() -> None:
    async with cluster() as c:
        spec = web(1)["spec"]["template"]["spec"]
        for name in ("web-0", "other-0"):
            await c.create(PODS, {"metadata": {"name": name, "labels": LABELS}, "spec": spec})
        await ready(c, 0)
        async with working(c.client, stateful_set.set_up):
            owner = await c.create(STATEFUL_SETS, web(1, updateStrategy={"type": "OnDelete"}))
            pod = await c.until(
                PODS, "web-0", lambda pod: "statefulset.kubernetes.io/pod-name" in pod["metadata"]["labels"]
            )
            assert [each.uid for each in meta(pod).owner_references] == [meta(owner).uid]
            [event] = await c.events("SuccessfulUpdate")
            assert event["message"] == "Update Pod web-0 in StatefulSet web successful"
        assert meta(await c.get(PODS, "other-0")).owner_references == []


async def test_a_pod_that_no_longer_matches_is_released() -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(1))
        await c.until(PODS, "web-0", lambda pod: True)
        await c.patch(PODS, "web-0", {"metadata": {"labels": {"app": "other"}}})
        await c.until(PODS, "web-0", lambda pod: not meta(pod).owner_references)


async def test_a_set_that_is_being_deleted_creates_no_pods() -> None:
    async with cluster(stateful_set.set_up) as c:
        owner = web(1)
        owner["metadata"]["finalizers"] = ["example.com/stay"]
        await c.create(STATEFUL_SETS, owner)
        await c.until(PODS, "web-0", lambda pod: True)
        await c.delete(STATEFUL_SETS, "web")
        await c.client.resource(PODS).delete("web-0", DeleteOptions(grace_period_seconds=0))
        await c.until(STATEFUL_SETS, "web", lambda each: each["status"]["replicas"] == 0)
        assert await names(c) == []


async def test_revisions_deleted_with_the_set_are_not_created_again() -> None:
    async with cluster(stateful_set.set_up) as c:
        owner = web(1)
        owner["metadata"]["finalizers"] = ["example.com/stay"]
        await c.create(STATEFUL_SETS, owner)
        before = await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("replicas") == 1)
        await c.delete(STATEFUL_SETS, "web")
        await c.until(STATEFUL_SETS, "web", lambda each: each["status"]["observedGeneration"] == 2)
        await c.delete(CONTROLLER_REVISIONS, before["status"]["updateRevision"])
        await c.client.resource(PODS).delete("web-0", DeleteOptions(grace_period_seconds=0))
        after = await c.until(STATEFUL_SETS, "web", lambda each: each["status"]["replicas"] == 0)
        assert after["status"]["updateRevision"] == before["status"]["updateRevision"]
        assert await revisions(c) == []


async def test_an_equivalent_revision_without_defaults_stays_current() -> None:
    async with cluster() as c:
        async with working(c.client, stateful_set.set_up):
            await c.create(STATEFUL_SETS, web(1))
            await ready(c, 0)
            await settled(c)
        revisions: Any = await c.all(CONTROLLER_REVISIONS)
        [revision] = revisions
        older = {"metadata": {"name": "older", "labels": meta(revision).labels}, "revision": 1}
        older["data"] = data_of(
            {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "one"}]}}
        )
        await c.create(CONTROLLER_REVISIONS, older)
        await c.delete(CONTROLLER_REVISIONS, meta(revision).name)
        async with working(c.client, stateful_set.set_up):
            await c.until(STATEFUL_SETS, "web", lambda each: each["status"]["updateRevision"] == "older")
            assert [meta(each).name for each in await c.all(CONTROLLER_REVISIONS)] == ["older"]
            await c.until(PODS, "web-0", lambda pod: pod["metadata"]["labels"]["controller-revision-hash"] == "older")
            await ready(c, 0)
            await settled(c)
            await c.patch(STATEFUL_SETS, "web", of_image("two"))
            await has_revision(c, 2)


async def test_after_a_restart_a_rollout_is_completed() -> None:
    async with cluster() as c:
        async with working(c.client, stateful_set.set_up):
            await c.create(STATEFUL_SETS, web(2))
            await ready(c, 0, 1)
            await settled(c)
            await c.patch(STATEFUL_SETS, "web", of_image("two"))
            await c.until(PODS, "web-1", lambda pod: image_of(pod) == "two")
        async with working(c.client, stateful_set.set_up):
            await ready(c, 1)
            await c.until(PODS, "web-0", lambda pod: image_of(pod) == "two")
            await ready(c, 0)
            await settled(c)
        assert await revisions(c) == [1, 2]


async def test_pods_become_available_after_min_ready_seconds() -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(1, minReadySeconds=3600))
        await c.make_ready(await c.until(PODS, "web-0", lambda pod: True), since="2999-01-01T00:00:00Z")
        found = await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("readyReplicas") == 1)
        assert found["status"]["availableReplicas"] == 0


async def test_after_a_restart_nothing_is_created_twice() -> None:
    async with cluster() as c:
        await c.create(STATEFUL_SETS, web(10, volumeClaimTemplates=[CLAIM], podManagementPolicy="Parallel"))
        for _ in range(3):
            async with working(c.client, stateful_set.set_up):
                await asyncio.sleep(0.02)
        async with working(c.client, stateful_set.set_up):
            await c.until(STATEFUL_SETS, "web", lambda each: each["status"].get("replicas") == 10)
            assert len(await c.all(PODS)) == len(await c.all(PERSISTENT_VOLUME_CLAIMS)) == 10
            assert await revisions(c) == [1]


@pytest.mark.parametrize("replicas", [0, 1])
async def test_an_unchanged_status_is_not_written(replicas: int) -> None:
    async with cluster(stateful_set.set_up) as c:
        await c.create(STATEFUL_SETS, web(replicas))
        await ready(c, *range(replicas))
        found = await settled(c)
        pods = list(await c.client.resource(POD_VIEW).list())
        revisions: Any = await c.all(CONTROLLER_REVISIONS)
        [revision] = revisions
        now = dt.datetime.now(dt.UTC)
        assert plan.status(plan.observe(found, plan.Revisions(revision, revision, 0), pods, now)) == found["status"]
