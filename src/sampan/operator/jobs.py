"""`JobRunner`: runs a Job to its end, and returns what its container reported.

    jobs = JobRunner(manager)
    Builder(manager).for_(Backup).owns(JOBS).complete(reconcile)

    outcome = await jobs.run(backup, job)     # in the reconciler
    if outcome is None:
        return                                # the Job runs; its end reconciles the owner again
    if outcome.succeeded: ...

A Job has a name that the reconciler computes from its object. So a reconciler that crashes after the creation finds the
Job again, and nothing runs twice. The container writes its report to `/dev/termination-log`, at most 4,096 bytes.
Assumption: the program of the Job is idempotent, because a node may run it more than once.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from sampan.client.errors import AlreadyExists, NotFound
from sampan.client.options import DeleteOptions, ListOptions
from sampan.core.gvk import GroupVersionResource
from sampan.operator.manager import Manager
from sampan.operator.owner_references import is_controlled_by, set_controller_reference
from sampan.operator.request import RetryLater
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
        metadata = meta(job)
        jobs = self._jobs.in_namespace(metadata.namespace)
        try:
            found = await jobs.get(metadata.name)
        except NotFound:
            await self._create(owner, job)
            return None
        if not is_controlled_by(found, owner):
            raise RetryLater(f"the Job {metadata.name} belongs to another object", after_s=10)
        if meta(found).deletion_timestamp:
            raise RetryLater(f"the Job {metadata.name} is being deleted", after_s=5)
        return await self._outcome(found)

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

    async def _create(self, owner: Any, job: Object) -> None:
        new = deepcopy(job)
        set_controller_reference(owner, new)
        try:
            await self._jobs.in_namespace(meta(job).namespace).create(new)
        except AlreadyExists as error:
            raise RetryLater(f"the Job {meta(job).name} exists already", after_s=1) from error

    async def _outcome(self, job: Object) -> JobOutcome | None:
        conditions = job.get("status", {}).get("conditions") or []
        ends = [each for each in conditions if each["status"] == "True" and each["type"] in ("Complete", "Failed")]
        if not ends:
            return None
        selector = ListOptions(label_selector=f"{_UID_LABEL}={meta(job).uid}")
        pods = await self._pods.in_namespace(meta(job).namespace).list(selector)
        succeeded = ends[0]["type"] == "Complete"
        message = _message(pods.items, succeeded=succeeded)
        return JobOutcome(succeeded, message or ("" if succeeded else ends[0].get("message", "")))


def _message(pods: list[Object], *, succeeded: bool) -> str:
    """Return the message of the container that ended last, among those that ended in the same way as the Job."""
    found = []
    for pod in pods:
        for status in pod.get("status", {}).get("containerStatuses") or []:
            end = status.get("state", {}).get("terminated") or status.get("lastState", {}).get("terminated") or {}
            if end.get("message") and (end.get("exitCode") == 0) == succeeded:
                found.append((end.get("finishedAt") or "", end["message"]))
    return max(found, default=("", ""))[1]
