"""Tests of captains. Each test has its own API server, in virtual time."""

from typing import Literal

import pytest
from sampan.resource import Object, ObjectMeta
from sampan.testing import Cluster, field, has_condition, is_gone
from world import LEASE_S

from captains.captain.reconcile import set_up
from captains.captain.v1 import Captain, CaptainSpec

LABELS = {"app": "harbour"}
pytestmark = pytest.mark.cluster(admission="OwnerReferencesPermissionEnforcement")
CAPTAIN = Captain(metadata=ObjectMeta(name="harbour"), spec=CaptainSpec(selector=LABELS, lease_seconds=LEASE_S))


def publishing(how: Literal["service", "file"]) -> Captain:
    spec = CaptainSpec(selector=LABELS, lease_seconds=LEASE_S, publish=how)
    return Captain(metadata=ObjectMeta(name="harbour"), spec=spec)


def pod(name: str) -> Object:
    spec = {"containers": [{"name": "main", "image": "harbour"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": LABELS}, "spec": spec}


async def leaders(cluster: Cluster) -> list[str]:
    found = await cluster.list("pods", selector="role=leader")
    return [each["metadata"]["name"] for each in found]


async def set_ready(cluster: Cluster, name: str, status: str) -> None:
    conditions = [{"type": "Ready", "status": status}]
    await cluster.patch(f"pod/{name}", {"status": {"conditions": conditions}}, subresource="status")


async def begin(cluster: Cluster, captain: Captain = CAPTAIN) -> None:
    """Run the operator with a captain and two ready Pods."""
    await cluster.crds(Captain)
    cluster.run(set_up)
    for name in ("a", "b"):
        await cluster.create(pod(name))
        await set_ready(cluster, name, "True")
    await cluster.apply(captain)
    await cluster.eventually("captains/harbour", has_condition("Ready"))


async def test_one_ready_pod_leads(cluster: Cluster) -> None:
    await begin(cluster)
    assert await leaders(cluster) == ["a"]
    lease = await cluster.get("lease/harbour")
    assert lease["spec"]["holderIdentity"].startswith("a/")


async def test_a_pod_that_is_not_ready_never_leads(cluster: Cluster) -> None:
    await cluster.crds(Captain)
    cluster.run(set_up)
    await cluster.create(pod("a"))
    await cluster.apply(CAPTAIN)
    await cluster.eventually("captains/harbour", has_condition("Ready", "False"))
    assert await leaders(cluster) == []


async def test_the_next_leader_has_a_higher_epoch(cluster: Cluster) -> None:
    await begin(cluster)
    await cluster.delete("pod/a")
    await cluster.eventually("captains/harbour", field(".status.leader") == "b")
    await cluster.settled()
    assert (await cluster.get("pod/b"))["metadata"]["annotations"]["captains.example.com/epoch"] == "2"


async def test_a_leader_that_is_ready_again_in_time_stays_leader(cluster: Cluster) -> None:
    await begin(cluster)
    await set_ready(cluster, "a", "False")
    await cluster.advance(seconds=LEASE_S / 2)
    await set_ready(cluster, "a", "True")
    await cluster.advance(seconds=5 * LEASE_S)
    assert await leaders(cluster) == ["a"]


async def test_a_leader_that_is_not_ready_for_the_lease_is_replaced(cluster: Cluster) -> None:
    await begin(cluster)
    await set_ready(cluster, "a", "False")
    await cluster.advance(seconds=2 * LEASE_S)
    assert await leaders(cluster) == ["b"]


async def test_the_service_follows_the_leader(cluster: Cluster) -> None:
    await begin(cluster, publishing("service"))
    await cluster.eventually("service/harbour", field(".spec.selector.role") == "leader")


async def test_the_config_map_names_the_leader(cluster: Cluster) -> None:
    await begin(cluster, publishing("file"))
    await cluster.eventually("configmap/harbour", field(".data.epoch") == "1")
    await cluster.delete("pod/a")
    await cluster.eventually("configmap/harbour", field(".data.leader") == "b")


async def test_epochs_continue_after_the_deletion_of_the_lease(cluster: Cluster) -> None:
    await begin(cluster)
    await cluster.delete("lease/harbour")
    await cluster.eventually("captains/harbour", field(".status.epoch") == 2)


async def test_epochs_continue_in_a_new_captain_of_the_same_name(cluster: Cluster) -> None:
    await begin(cluster)
    await cluster.delete("captains/harbour")
    await cluster.eventually("captains/harbour", is_gone())
    assert await leaders(cluster) == []
    await cluster.delete("lease/harbour")
    await cluster.apply(CAPTAIN)
    await cluster.eventually("captains/harbour", field(".status.epoch") == 2)


async def test_the_label_of_a_second_pod_is_removed(cluster: Cluster) -> None:
    await begin(cluster)
    await cluster.patch("pod/b", {"metadata": {"labels": {"role": "leader"}}})
    await cluster.settled()
    assert await leaders(cluster) == ["a"]


async def test_a_restart_changes_nothing(cluster: Cluster) -> None:
    await begin(cluster)
    await cluster.assert_idempotent()


async def test_a_service_that_is_no_longer_published_is_deleted(cluster: Cluster) -> None:
    await begin(cluster, publishing("service"))
    await cluster.eventually("service/harbour")
    await cluster.apply(publishing("file"))
    await cluster.eventually("configmap/harbour")
    await cluster.eventually("service/harbour", is_gone())
