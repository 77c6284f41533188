"""`JobRunner` and `end_job`: Jobs of a reconciler, to their end."""

import pytest

from sampan.core.gvk import GroupVersionResource
from sampan.operator import JOBS, Builder, JobEnded, JobOutcome, JobRunner, Manager, Request
from sampan.resource import ResourceInfo
from sampan.testing import Cluster, end_job, exists, is_gone, owned_by

MAPS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)
BOX = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box"}}
POD = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "main"}]}
OTHER = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "box"}, "spec": {"template": {"spec": POD}}}


class Packer:
    """Operator that runs a Job for the ConfigMap `box`."""

    def __init__(self) -> None:
        self.outcomes: list[JobOutcome] = []
        self.jobs: JobRunner | None = None
        self.reconciles = 0

    def set_up(self, manager: Manager) -> None:
        """Add the controller."""
        jobs = self.jobs = JobRunner(manager)

        async def reconcile(request: Request) -> None:
            self.reconciles += 1
            box = await manager.client.resource(MAPS).find(request)
            if box is None or request.name != "box":
                return
            metadata = {"name": "box", "namespace": "default"}
            outcome = await jobs.run(box, {**OTHER, "metadata": metadata})
            self.outcomes += [outcome] if outcome else []

        Builder(manager).for_(MAPS).owns(JOBS, predicates=[JobEnded()]).complete(reconcile)


async def test_a_job_is_created_once_and_its_message_is_returned(cluster: Cluster) -> None:
    packer = Packer()
    operator = cluster.run(packer.set_up)
    [box] = await cluster.apply(BOX)
    await cluster.eventually("jobs/box", owned_by(box))
    await operator.crash()
    operator.restart()
    await end_job(cluster, "box", message="packed")
    await cluster.settled()
    assert set(packer.outcomes) == {JobOutcome(True, "packed")}
    assert len(await cluster.list("jobs")) == 1


async def test_a_failed_job_has_the_message_of_its_container(cluster: Cluster) -> None:
    packer = Packer()
    cluster.run(packer.set_up)
    await cluster.apply(BOX)
    await end_job(cluster, "box", message="too heavy", exit_code=3)
    await cluster.settled()
    assert packer.outcomes[-1] == JobOutcome(False, "too heavy")


async def test_a_job_without_its_pod_has_no_message(cluster: Cluster) -> None:
    packer = Packer()
    operator = cluster.run(packer.set_up)
    await cluster.apply(BOX)
    await cluster.eventually("jobs/box", exists())
    await operator.stop()
    await end_job(cluster, "box", message="packed")
    await cluster.delete("pods/box")
    operator.restart()
    await cluster.settled()
    assert packer.outcomes[-1] == JobOutcome(True, "")


async def test_a_job_of_another_owner_is_left_alone(cluster: Cluster) -> None:
    packer = Packer()
    [made] = await cluster.apply(OTHER)
    cluster.run(packer.set_up)
    await cluster.apply(BOX)
    await cluster.advance(minutes=1)
    assert packer.outcomes == []
    assert (await cluster.get("jobs/box"))["metadata"]["uid"] == made["metadata"]["uid"]


async def test_remove_deletes_the_job_with_its_pods(cluster: Cluster) -> None:
    packer = Packer()
    cluster.run(packer.set_up)
    await cluster.apply(BOX)
    await end_job(cluster, "box", message="packed")
    await cluster.settled()
    assert packer.jobs is not None
    assert not await packer.jobs.remove("default", "box")
    await cluster.eventually("pods/box", is_gone())


async def test_the_role_permits_what_a_runner_does(cluster: Cluster) -> None:
    manager = Manager(cluster.admin())
    Packer().set_up(manager)
    found = {(each.verb, each.resource) for each in manager.rights()}
    assert {("create", "jobs"), ("delete", "jobs"), ("list", "pods")} <= found


async def test_a_verb_that_writes_is_no_declared_read(cluster: Cluster) -> None:
    with pytest.raises(ValueError, match="no verb that reads"):
        Manager(cluster.admin()).declare_reads(MAPS, "patch")


async def test_only_the_end_of_a_job_reconciles_its_owner(cluster: Cluster) -> None:
    packer = Packer()
    cluster.run(packer.set_up)
    await cluster.apply(BOX)
    await cluster.eventually("jobs/box", exists())
    await cluster.settled()
    before = packer.reconciles
    await cluster.patch("jobs/box", {"metadata": {"labels": {"colour": "red"}}})
    await cluster.settled()
    assert packer.reconciles == before
    await end_job(cluster, "box")
    await cluster.settled()
    assert packer.reconciles == before + 1
