"""Removal of the tracking finalizer from Pods whose Job will not count them.

Concurrency: the manager runs the controller; each Pod is reconciled by one worker at a time.
Source: kube-controller-manager pkg/controller/job/job_controller.go `syncOrphanPod` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sampan.client import NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import JOBS
from sampan.component_base.views import POD_VIEW, Pod
from sampan.controllers.job.conditions import finished_condition
from sampan.controllers.job.finalizer import FinalizerRemoval
from sampan.controllers.job.spec import JobSpec
from sampan.controllers.job.state import TRACKING_FINALIZER, is_tracked
from sampan.controllers.workloads.ownership import CONTROLLER_INDEX, controller_of
from sampan.informer.key import join_key
from sampan.informer.ref import Ref
from sampan.kinds import batch_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request
from sampan.resource import OwnerReference

NAME: Final = "job-orphan-pods"
WORKERS: Final = 5
_FINALIZER: Final = TRACKING_FINALIZER.encode()
_DELETED: Final = b'"deletionTimestamp"'


class OrphanController:
    """Reconciles Pods with the finalizer that are orphans or belong to finished Jobs."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._jobs = context.informer(JOBS)
        self._pods = context.manager.client.resource(POD_VIEW, namespace="")
        self._pod_informer = context.informer(POD_VIEW)
        self._direct = context.manager.client.direct.resource(JOBS, namespace="")
        self._finalizers = FinalizerRemoval(context)

    def start(self) -> None:
        """Register the controller with the manager. The index of Pods by controller must exist."""
        (
            Builder(self._context.manager)
            .named(NAME)
            .watches(POD_VIEW, self._maybe_orphan)
            .watches(JOBS, self._pods_of_ended)
            .with_options(max_concurrent_reconciles=WORKERS)
            .complete(self)
        )

    async def reconcile(self, request: Request) -> None:
        """Reconcile one Pod. Raises `ClientError`."""
        pod = await self._pods.find(request)
        if pod is not None and is_tracked(pod) and not await self._will_be_counted(pod):
            # A Job may adopt the Pod at this moment, and could not count it without the finalizer.
            await self._finalizers.release(pod, unchanged=True)

    async def _will_be_counted(self, pod: Pod) -> bool:
        """Return True if a Job controller will remove the finalizer.

        The Job is read from the server, because a new Job may not be in the cache yet.
        """
        reference = controller_of(pod)
        if reference is None:
            return False
        if not _is_job(reference):
            return True
        try:
            job: batch_v1.Job = await self._direct.in_namespace(pod.metadata.namespace).get(reference.name)
        except NotFound:
            return False
        if job["metadata"]["uid"] != reference.uid:
            return False
        return JobSpec.of(job).managed_elsewhere or finished_condition(job) is None

    def _maybe_orphan(self, ref: Ref[Any]) -> Iterable[Request]:
        """Return a request for a Pod that its Job will not count.

        Such a Pod has no controller, its Job does not exist, or the Pod is being deleted and its Job is finished.
        """
        if _FINALIZER not in ref.raw:
            return ()
        reference = next((each for each in ref.owner_references if each.controller), None)
        if reference is None:
            return (Request.of_key(ref.key),)
        if not _is_job(reference):
            return ()
        job = self._jobs.indexer.get(join_key(ref.namespace, reference.name))
        if job is None or job.uid != reference.uid:
            return (Request.of_key(ref.key),)
        ended = _DELETED in ref.raw and finished_condition(job.decode()) is not None
        return (Request.of_key(ref.key),) if ended else ()

    def _pods_of_ended(self, ref: Ref[Any]) -> Iterable[Request]:
        """Return requests for the Pods of a finished or deleted Job that still have the finalizer.

        Usually there are none.
        """
        current = self._jobs.indexer.get(ref.key)
        if current is not None and current.uid == ref.uid and finished_condition(current.decode()) is None:
            return ()
        pods = self._pod_informer.indexer.by_index(CONTROLLER_INDEX, ref.uid)
        return [Request.of_key(pod.key) for pod in pods if _FINALIZER in pod.raw]


def _is_job(reference: OwnerReference) -> bool:
    return reference.kind == JOBS.kind and reference.api_version.startswith(f"{JOBS.gvr.group}/")
