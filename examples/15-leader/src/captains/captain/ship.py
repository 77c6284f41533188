"""`Ship`: the Lease and the Pods of one captain, read from the server and written with their versions.

Why two Pods are never labelled at once: before a Pod gets the label in a term, every Pod that could have it gets the
term's epoch. A slower operator with an older term then finds a newer epoch, or its write conflicts.
"""

from sampan.client import Client, ListOptions, MergePatch, NotFound, ResourceClient
from sampan.core.gvk import GroupVersionResource
from sampan.core.time import Clock, format_micro_time
from sampan.operator import RetryLater
from sampan.resource import Object, ResourceInfo

from captains.captain.term import CAPTAIN, EPOCH, LEADER, ROLE, Term, epoch_of, is_labelled
from captains.captain.v1 import Captain

PODS = ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", namespaced=True)
LEASES = ResourceInfo(GroupVersionResource("coordination.k8s.io", "v1", "leases"), "Lease", namespaced=True)


class Ship:
    """See the module. A cache would be too old for these decisions."""

    def __init__(self, client: Client, captain: Captain, clock: Clock) -> None:
        self._captain = captain
        self._clock = clock
        self._name = captain.metadata.name
        self._pods: ResourceClient[Object] = client.resource(PODS, namespace=captain.metadata.namespace)
        self._leases: ResourceClient[Object] = client.resource(LEASES, namespace=captain.metadata.namespace)

    async def lease(self) -> Object:
        """Return the Lease. A new one continues the epochs of a Lease that was deleted."""
        try:
            return await self._leases.get(self._name)
        except NotFound:
            status = self._captain.status
            known = max([status.epoch if status else 0, *map(epoch_of, await self.pods())])
        head = {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": {"name": self._name}}
        return await self._leases.create({**head, "spec": self._spec(Term(known))})

    async def pods(self) -> list[Object]:
        """Return the Pods that the captain selects, and a leader that it does not select any more."""
        chosen = ",".join(f"{key}={value}" for key, value in sorted(self._captain.spec.selector.items()))
        found = {}
        for labels in (chosen, f"{CAPTAIN}={self._name}"):
            for pod in await self._pods.list_all(ListOptions(label_selector=labels)):
                found[pod["metadata"]["uid"]] = pod
        return list(found.values())

    def selects(self, pod: Object) -> bool:
        """Return True if the captain selects the Pod."""
        labels = pod["metadata"].get("labels") or {}
        return all(labels.get(key) == value for key, value in self._captain.spec.selector.items())

    async def write(self, lease: Object, term: Term) -> Object:
        """Write a term into the Lease, which renews it. Raises `Conflict` if another operator has written it."""
        return await self._leases.update({**lease, "spec": self._spec(term)})

    async def label(self, term: Term, pods: list[Object]) -> None:
        """Give the epoch to all Pods and take the label from all but one; then label the leader.

        Raises `RetryLater` if a Pod has a newer epoch, and `Conflict` if a Pod has changed.
        """
        self._check(term, pods)
        for pod in pods:
            if not term.leads(pod) and (is_labelled(pod) or epoch_of(pod) < term.epoch):
                await self._mark(pod, term, leads=False)
        for pod in pods:
            if term.leads(pod) and not (is_labelled(pod) and epoch_of(pod) == term.epoch):
                await self._mark(pod, term, leads=self.selects(pod))

    async def release(self) -> None:
        """Take the label from all Pods."""
        for pod in await self.pods():
            if is_labelled(pod):
                await self._mark(pod, Term(epoch_of(pod)), leads=False)

    def _check(self, term: Term, pods: list[Object]) -> None:
        if any(epoch_of(pod) > term.epoch for pod in pods):
            raise RetryLater(f"epoch {term.epoch} is over")

    async def _mark(self, pod: Object, term: Term, *, leads: bool) -> None:
        labels = {ROLE: LEADER if leads else None, CAPTAIN: self._name if leads else None}
        metadata = {"resourceVersion": pod["metadata"]["resourceVersion"], "labels": labels}
        try:
            await self._pods.patch(
                pod["metadata"]["name"], MergePatch({"metadata": {**metadata, "annotations": {EPOCH: str(term.epoch)}}})
            )
        except NotFound:
            pass  # It cannot lead any more.

    def _spec(self, term: Term) -> Object:
        return {
            "holderIdentity": f"{term.pod}/{term.uid}" if term.uid else "",
            "leaseTransitions": term.epoch,
            "leaseDurationSeconds": self._captain.spec.lease_seconds,
            "renewTime": format_micro_time(self._clock.now()),
        }
