"""The faults of a storm. Each ends by itself: nothing stays broken if the operator never comes back.

An isolation is a NetworkPolicy that a Job owns, its fuse. The Job controller ends the fuse after `ttlSeconds` and the
cluster deletes it; the garbage collector then deletes the policy. None of this needs the operator.
"""

from contextlib import suppress
from typing import Final, Literal

from sampan.client import AlreadyExists, Client, DeleteOptions, MergePatch, NotFound, TooManyRequests
from sampan.core.gvk import GroupVersionResource
from sampan.operator import set_controller_reference
from sampan.resource import Object, ResourceInfo

from storms.storm.v1 import Storm, Victim

PODS: Final = ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", namespaced=True)
JOBS: Final = ResourceInfo(GroupVersionResource("batch", "v1", "jobs"), "Job", namespaced=True)
POLICIES: Final = ResourceInfo(
    GroupVersionResource("networking.k8s.io", "v1", "networkpolicies"), "NetworkPolicy", namespaced=True
)
ISOLATED: Final = "storms.example.com/isolated"


class Faults:
    """Injects and ends the faults of one storm."""

    def __init__(self, client: Client, storm: Storm) -> None:
        self._storm = storm
        namespace = storm.metadata.namespace
        self._pods = client.resource(PODS, namespace=namespace)
        self._jobs = client.resource(JOBS, namespace=namespace)
        self._policies = client.resource(POLICIES, namespace=namespace)

    async def inject(self, victim: Victim) -> tuple[Literal["Hit", "Spared"], str]:
        """Inject a fault that has begun; repeating it changes nothing. Return what happened, and the reason."""
        if victim.state == "Planned":
            return "Spared", "the Pod is gone"
        try:
            await (self._isolate if victim.action == "isolate" else self._evict)(victim)
        except TooManyRequests:
            return "Spared", "a PodDisruptionBudget refuses the eviction"
        except NotFound:
            pass  # It was hit before the operator crashed, or ended since the fault has begun.
        return "Hit", ""

    async def heal(self) -> None:
        """End all isolations of the storm."""
        for victim in self._storm.status.victims if self._storm.status else []:
            if victim.action == "isolate":
                with suppress(NotFound):
                    await self._jobs.delete(self._fuse(victim), DeleteOptions(propagation_policy="Background"))

    async def _evict(self, victim: Victim) -> None:
        """Evict the Pod without a grace period. An eviction honours disruption budgets; its uid, the plan."""
        pod = await self._pods.get(victim.pod)
        if pod["metadata"]["uid"] != victim.uid or "deletionTimestamp" in pod["metadata"]:
            return  # It was hit, before the operator crashed.
        await self._pods.evict(victim.pod, DeleteOptions(grace_period_seconds=0, uid=victim.uid))

    async def _isolate(self, victim: Victim) -> None:
        """Cut the network of the Pod; first of all make what ends it."""
        name = self._fuse(victim)
        ttl_s = self._storm.spec.ttl_seconds
        limits = {"activeDeadlineSeconds": ttl_s, "ttlSecondsAfterFinished": 0, "backoffLimit": 0}
        spec = {**limits, "template": {"spec": {"restartPolicy": "Never", "containers": [FUSE]}}}
        metadata = {"name": name, "namespace": self._storm.metadata.namespace}
        fuse: Object = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
        set_controller_reference(self._storm, fuse)
        try:
            fuse = await self._jobs.create(fuse)
        except AlreadyExists:
            fuse = await self._jobs.get(name)
        policy: Object = {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": name, "namespace": self._storm.metadata.namespace},
            "spec": {"podSelector": {"matchLabels": {ISOLATED: name}}, "policyTypes": ["Ingress", "Egress"]},
        }
        set_controller_reference(fuse, policy)
        with suppress(AlreadyExists):
            await self._policies.create(policy)
        label = {"uid": victim.uid, "labels": {ISOLATED: name}}
        await self._pods.patch(victim.pod, MergePatch({"metadata": label}))

    def _fuse(self, victim: Victim) -> str:
        return f"storm-{victim.uid[:8]}-{self._storm.metadata.uid[:8]}"


FUSE: Final = {"name": "fuse", "image": "registry.k8s.io/pause:3.10", "command": ["/pause"]}
"""It only has to exist: the deadline counts also while its image cannot be pulled."""
