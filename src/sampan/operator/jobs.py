"""`JobRunner`: runs a Job to its end, and returns what its container reported.

    jobs = JobRunner(manager)
    Builder(manager).for_(Backup).owns(JOBS, predicates=[JobEnded()]).complete(reconcile)

    outcome = await jobs.run(backup, job)     # in the reconciler
    if outcome is None:
        return                                # the Job runs; its end reconciles the owner again
    if outcome.succeeded: ...

A Job has a name that the reconciler computes from its object. So a reconciler that crashes after the creation finds the
Job again, and nothing runs twice. The container writes its report to `/dev/termination-log`, at most 4,096 bytes.
Assumption: the program of the Job is idempotent, because a node may run it more than once.
"""

from dataclasses import dataclass
from typing import Any, Final

from sampan.client.errors import NotFound
from sampan.client.options import DeleteOptions, ListOptions
from sampan.core.gvk import GroupVersionResource
from sampan.informer.ref import Ref
from sampan.operator.manager import Manager
from sampan.operator.owners.owned import ensure_controlled
from sampan.operator.predicates import Predicate
from sampan.resource import Object, ResourceInfo, meta

JOBS: Final = ResourceInfo(GroupVersionResource("batch", "v1", "jobs"), "Job", namespaced=True)
"""Jobs of `batch/v1`, for `Builder.owns`."""
PODS: Final = ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", namespaced=True)
_UID_LABEL: Final = "batch.kubernetes.io/controller-uid"


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """End of a Job."""

    succeeded: bool
    message: str
    """Termination message of the newest container; that of the Job if there is none. Empty: all its Pods are gone."""


class JobRunner:
    """Runs Jobs for a reconciler. The controller must watch Jobs: `Builder.owns(JOBS)`."""

    def __init__(self, manager: Manager) -> None:
        """Declare the rights on Jobs and Pods."""
        manager.declare_writes(JOBS, "create", "delete")
        manager.declare_reads(PODS, "list")
        self._jobs = manager.client.resource(JOBS, namespace="")
        self._pods = manager.client.direct.resource(PODS, namespace="")

    async def run(self, owner: Any, job: Object) -> JobOutcome | None:
        """Create the Job unless it exists, and return its outcome; None while it runs.

        `owner` becomes its controller. The content of an existing Job is not compared. Raises `RetryLater` while a Job
        of this name belongs to another owner or is being deleted.
        """
        return await self._outcome(await ensure_controlled(self._jobs, owner, job))

    async def remove(self, namespace: str, name: str) -> bool:
        """Delete a Job with its Pods. Return True when the Job is gone, and so are its Pods."""
        jobs = self._jobs.in_namespace(namespace)
        try:
            found = await jobs.get(name)
            if not meta(found).deletion_timestamp:
                await jobs.delete(name, DeleteOptions(propagation_policy="Foreground", uid=meta(found).uid))
        except NotFound:
            return True
        return False

    async def _outcome(self, job: Object) -> JobOutcome | None:
        ends = _ends(job)
        if not ends:
            return None
        selector = ListOptions(label_selector=f"{_UID_LABEL}={meta(job).uid}")
        pods = await self._pods.in_namespace(meta(job).namespace).list(selector)
        succeeded = ends[0]["type"] == "Complete"
        message = _message(pods.items, succeeded=succeeded)
        return JobOutcome(succeeded, message or ("" if succeeded else ends[0].get("message", "")))


def _ends(job: Object) -> list[dict[str, Any]]:
    """Return the conditions that end a Job."""
    conditions = job.get("status", {}).get("conditions") or []
    return [each for each in conditions if each["status"] == "True" and each["type"] in ("Complete", "Failed")]


class JobEnded(Predicate[Object]):
    """Drops changes of a Job before its end: `Builder.owns(JOBS, predicates=[JobEnded()])`."""

    def create(self, obj: Ref[Object]) -> bool:
        """Return True if the Job has ended."""
        return bool(_ends(obj.decode()))

    def update(self, old: Ref[Object], new: Ref[Object]) -> bool:
        """Return True if the Job has ended in this change."""
        return self.create(new) and not self.create(old)


def _message(pods: list[Object], *, succeeded: bool) -> str:
    """Return the message of the container that ended last, among those that ended in the same way as the Job."""
    found = []
    for pod in pods:
        for status in pod.get("status", {}).get("containerStatuses") or []:
            end = status.get("state", {}).get("terminated") or status.get("lastState", {}).get("terminated") or {}
            if end.get("message") and (end.get("exitCode") == 0) == succeeded:
                found.append((end.get("finishedAt") or "", end["message"]))
    return max(found, default=("", ""))[1]
