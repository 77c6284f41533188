"""Scenarios: what a user does with the objects of one built-in loop. Each is explored with all faults."""

import asyncio
from typing import Any

from sampan.component_base.resources import NAMESPACES
from sampan.testing import Cluster
from sampan.testing.explore import State
from tests.testing.own_loops.parts import (
    at_most_pods,
    claim_template,
    config_map,
    finished_stays,
    job,
    loop,
    one_controller,
    owned_by,
    story,
    workload,
)

RULES = [one_controller]


@story(loop("deployment-controller"), loops="replicaset,scheduler,nodes", checks=[*RULES, at_most_pods(4)])
async def deployment(cluster: Cluster) -> None:
    """Scale, roll out another template, and go back to the first one."""
    await cluster.apply(workload("Deployment", replicas=2))
    await cluster.settled()
    await cluster.apply(workload("Deployment", replicas=3))
    await cluster.settled()
    await cluster.apply(workload("Deployment", image="two", replicas=3))
    await cluster.settled()
    await cluster.apply(workload("Deployment", replicas=1))


@story(loop("deployment-controller"), loops="replicaset,scheduler,nodes", checks=RULES)
async def recreate(cluster: Cluster) -> None:
    """Replace all Pods at once, and delete the Deployment."""
    spec: dict[str, Any] = {"strategy": {"type": "Recreate"}, "replicas": 2, "revisionHistoryLimit": 0}
    await cluster.apply(workload("Deployment", **spec))
    await cluster.settled()
    await cluster.apply(workload("Deployment", image="two", **spec))
    await cluster.settled()
    await cluster.delete("deployment/web")


@story(loop("replicaset-controller"), loops="scheduler,nodes", checks=RULES)
async def replica_set(cluster: Cluster) -> None:
    """Scale and delete the set."""
    await cluster.apply(workload("ReplicaSet", replicas=2))
    await cluster.settled()
    await cluster.apply(workload("ReplicaSet", replicas=3))
    await cluster.settled()
    await cluster.apply(workload("ReplicaSet", replicas=1))
    await cluster.settled()
    await cluster.delete("replicaset/web")


@story(loop("statefulset-controller"), loops="scheduler,nodes,persistentvolume-binder", checks=RULES)
async def stateful_set(cluster: Cluster) -> None:
    """Scale down and up again, so that the claims are used again, and roll out another template."""
    spec: dict[str, Any] = {"serviceName": "web", "volumeClaimTemplates": [claim_template()]}
    await cluster.apply(workload("StatefulSet", replicas=2, **spec))
    await cluster.settled()
    await cluster.apply(workload("StatefulSet", replicas=1, **spec))
    await cluster.settled()
    await cluster.apply(workload("StatefulSet", replicas=2, **spec))
    await cluster.settled()
    await cluster.apply(workload("StatefulSet", image="two", replicas=2, **spec))


@story(loop("daemonset-controller"), loops="scheduler,nodes", checks=RULES)
async def daemon_set(cluster: Cluster) -> None:
    """Roll out another template."""
    await cluster.apply(workload("DaemonSet"))
    await cluster.settled()
    await cluster.apply(workload("DaemonSet", image="two"))
    await cluster.settled()


@story(loop("job-controller"), loops="scheduler,nodes", checks=[*RULES, finished_stays])
async def job_done(cluster: Cluster) -> None:
    """Complete four Pods, two at a time; one fails first."""
    cluster.pods.complete(after=3)
    await cluster.apply(job(completions=4, parallelism=2))
    await asyncio.sleep(60)


@story(loop("job-controller"), loops="scheduler,nodes", checks=[*RULES, finished_stays])
async def job_failed(cluster: Cluster) -> None:
    """Fail until the limit, one Pod at a time.

    With two at a time, a delay decides between three and four failures: the second Pod may exist before the Job fails,
    or not. Kubernetes promises no exact number, either.
    """
    cluster.pods.complete(after=3, exit_code=1)
    await cluster.apply(job(completions=2, parallelism=1, backoffLimit=2))
    await asyncio.sleep(120)


@story(loop("job-controller"), loops="scheduler,nodes", checks=[*RULES, finished_stays])
async def job_indexed(cluster: Cluster) -> None:
    """Suspend and resume an indexed Job, with one failed index."""
    cluster.pods.complete(after=3)
    cluster.pods.complete("work-1-*", after=3, exit_code=1)
    spec = {"completions": 3, "parallelism": 3, "completionMode": "Indexed", "backoffLimitPerIndex": 0}
    await cluster.apply(job(suspend=True, **spec))
    await cluster.settled()
    await cluster.apply(job(suspend=False, **spec))
    await asyncio.sleep(60)


@story(loop("cronjob-controller"), loops="job,scheduler,nodes", checks=RULES)
async def cron_job(cluster: Cluster) -> None:
    """Run twice, and keep one finished Job."""
    cluster.pods.complete(after=3)
    spec = {"schedule": "* * * * *", "successfulJobsHistoryLimit": 1, "jobTemplate": {"spec": job()["spec"]}}
    made = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "often"}, "spec": spec}
    await cluster.apply(made)
    await asyncio.sleep(130)
    await cluster.apply({**made, "spec": {**spec, "suspend": True}})
    await asyncio.sleep(30)


def an_owner_waits_for_its_parts(state: State) -> str | None:
    """Rule: an owner that is deleted in the foreground outlives what blocks it."""
    if state.after is None and state.before is not None:
        uid = state.before["metadata"]["uid"]
        for each in state.list("ConfigMap"):
            for reference in each["metadata"].get("ownerReferences") or []:
                waits = "foregroundDeletion" in (state.before["metadata"].get("finalizers") or [])
                if reference["uid"] == uid and reference.get("blockOwnerDeletion") and waits:
                    return "an owner is gone before its dependents"
    return None


@story(loop("garbage-collector-controller"), loops="-gc", checks=[an_owner_waits_for_its_parts])
async def garbage(cluster: Cluster) -> None:
    """Delete owners in the background, in the foreground and without their dependents."""
    owners = {}
    for name in ("plain", "waits", "orphans"):
        (owners[name],) = await cluster.apply(config_map(name))
        fields = {"blockOwnerDeletion": True}
        await cluster.apply(config_map(f"{name}-part", ownerReferences=owned_by(owners[name], **fields)))
    (stays,) = await cluster.apply(config_map("stays"))
    both = [*owned_by(owners["plain"]), *owned_by(stays)]
    await cluster.apply(config_map("shared", ownerReferences=both))
    await cluster.settled()
    await cluster.delete("configmaps/plain")
    await cluster.settled()
    await cluster.delete("configmaps/waits", propagation="Foreground")
    await cluster.settled()
    await cluster.delete("configmaps/orphans", propagation="Orphan")
    await cluster.settled()
    await cluster.apply(config_map("plain"))


@story(loop("garbage-collector-controller"), loops="-gc")
async def garbage_again(cluster: Cluster) -> None:
    """Delete an owner, and create it and its dependent again with the same names."""
    for _ in range(2):
        (owner,) = await cluster.apply(config_map("owner"))
        await cluster.apply(config_map("part", ownerReferences=owned_by(owner, controller=True)))
        await cluster.settled()
        await cluster.delete("configmaps/owner")
        await cluster.settled()
    (owner,) = await cluster.apply(config_map("owner"))
    await cluster.apply(config_map("part", ownerReferences=owned_by(owner, controller=True)))


def nothing_is_new_in_an_ending_namespace(state: State) -> str | None:
    """Rule: the last object of a namespace is deleted before the namespace."""
    if state.after is None and state.before is not None and state.before["kind"] == "Namespace":
        name = state.before["metadata"]["name"]
        if any(each["metadata"].get("namespace") == name for each in state.objects.values() if each["kind"] != "Event"):
            return "a namespace is gone before its objects"
    return None


@story(loop("namespace-controller"), loops="-namespace", checks=[nothing_is_new_in_an_ending_namespace])
async def namespace(cluster: Cluster) -> None:
    """Delete a namespace with objects, one of which has a finalizer, and create it again."""
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    for _ in range(2):
        await cluster.apply(space)
        await cluster.apply(config_map("one", namespace="team"))
        await cluster.apply(config_map("two", namespace="team", finalizers=["example.com/wait"]))
        await cluster.settled()
        await cluster.admin().resource(NAMESPACES).delete("team")
        await cluster.settled()
        await cluster.apply(config_map("two", namespace="team", finalizers=[]))
        await asyncio.sleep(60)
    await cluster.apply(space)


@story(loop("resourcequota-controller"), checks=RULES)
async def quota(cluster: Cluster) -> None:
    """Count objects, change the limits and delete objects."""
    spec = {"hard": {"configmaps": "5", "count/secrets": "3"}}
    made = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": spec}
    await cluster.apply(config_map("first"))
    await cluster.apply(made)
    await cluster.settled()
    await cluster.apply(config_map("second"))
    await cluster.settled()
    await cluster.apply({**made, "spec": {"hard": {"configmaps": "7"}}})
    await cluster.settled()
    await cluster.delete("configmaps/first")
    await cluster.settled()
