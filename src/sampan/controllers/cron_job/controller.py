"""Reconcile one CronJob.

Concurrency: the manager runs the controller; each CronJob is reconciled by one worker at a time. The status is written
only to the version that was read (resourceVersion). After a conflict the CronJob is reconciled again.
Source: kube-controller-manager pkg/controller/cronjob/cronjob_controllerv2.go (1.36).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from email.utils import format_datetime
from typing import Any, Final

from sampan.client import AlreadyExists, ApiError, ClientError, Conflict, DeleteOptions, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CRON_JOBS, JOBS
from sampan.controllers.cron_job import schedule as schedules
from sampan.controllers.cron_job.jobs import (
    add_active,
    history,
    is_active,
    job_name,
    new_job,
    recover,
    remove_active,
)
from sampan.controllers.cron_job.source import CronJobSource, JobChanged
from sampan.controllers.job.conditions import COMPLETE, finished_condition
from sampan.controllers.status import status_of, write_status
from sampan.controllers.workloads.ownership import Owned, controller_of
from sampan.controllers.workloads.pod_control import NAMESPACE_TERMINATING
from sampan.core.cron import Schedule, check_time_zone
from sampan.core.field import quote
from sampan.core.time import add_seconds, format_time, parse_time
from sampan.kinds import batch_v1, core_v1
from sampan.operator.controller import ControllerOptions
from sampan.operator.handlers import for_owner
from sampan.operator.request import Request, Result
from sampan.operator.source import KindSource
from sampan.resource import dynamic, meta

NAME: Final = "cronjob-controller"
WORKERS: Final = 5
_RETRY_S: Final = 0.1
_WRITES_MAX: Final = 5


class CronJobController:
    """Starts the Jobs that are due."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._clock = context.clock
        client = context.manager.client
        self._cron_jobs = client.resource(CRON_JOBS, namespace="")
        self._jobs = client.resource(JOBS, namespace="")
        self._direct = client.direct.resource(JOBS, namespace="")
        self._owned: Owned[batch_v1.Job] = Owned(context, dynamic(JOBS), CRON_JOBS)
        self._recorder = context.recorder(NAME)

    def start(self) -> None:
        """Register the controller with the manager."""
        options = ControllerOptions(max_concurrent_reconciles=WORKERS)
        controller = self._context.manager.new_controller(NAME, self, options)
        controller.watch(CronJobSource(self._context.informer(CRON_JOBS), self._wait_after_change))
        controller.watch(KindSource(self._context.informer(JOBS), for_owner(CRON_JOBS), (JobChanged(),)))

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one CronJob. Raises `ClientError`."""
        cron_job = await self._cron_jobs.find(request)
        if cron_job is None:
            return None
        jobs = await self._owned.of(cron_job)
        status = status_of(cron_job)
        if recover(cron_job, jobs, status):
            await self._write(cron_job, status)
            return Result(_RETRY_S)
        failure: ClientError | None = None
        wait_s: float | None = None
        for job in history(cron_job, jobs):
            await self._delete_job(cron_job, job, status)
        try:
            await self._update_from_jobs(cron_job, jobs, status)
            wait_s = await self._sync(cron_job, status)
        except ClientError as error:
            failure = error
        written = await self._write(cron_job, status)
        if failure is not None:
            raise failure
        return Result(wait_s if written else _RETRY_S)

    async def _write(self, cron_job: batch_v1.CronJob, status: batch_v1.CronJobStatus) -> bool:
        """Write the status; return False if the caller must compute it again. Raises `ClientError`.

        A concurrent change of the spec must not lose the record of a started Job. So the write is repeated on the new
        version, unless the status itself has changed too.
        """
        for _ in range(_WRITES_MAX):
            try:
                await write_status(self._cron_jobs, cron_job, status, optimistic_lock=True)
                return True
            except NotFound:
                return True
            except Conflict:
                metadata = meta(cron_job)
                request = Request(metadata.namespace, metadata.name)
                fresh = await self._find_fresh(request)
                if fresh is None or meta(fresh).uid != metadata.uid or fresh.get("status") != cron_job.get("status"):
                    return False
                cron_job = fresh
        return False

    async def _find_fresh(self, request: Request) -> batch_v1.CronJob | None:
        """Read the CronJob from the server; None if it is gone."""
        client = self._context.manager.client.direct.resource(CRON_JOBS, namespace=request.namespace)
        try:
            return await client.get(request.name)
        except NotFound:
            return None

    async def _update_from_jobs(
        self, cron_job: batch_v1.CronJob, jobs: Sequence[batch_v1.Job], status: batch_v1.CronJobStatus
    ) -> None:
        """Update the status from the existing Jobs."""
        for job in jobs:
            metadata = meta(job)
            condition, listed = finished_condition(job), is_active(status, metadata.uid)
            if condition is None:
                if not listed:
                    note = f"Saw a job that the controller did not create or forgot: {metadata.name}"
                    self._recorder.warning(cron_job, "UnexpectedJob", note)
                continue
            if listed:
                remove_active(status, metadata.uid)
                note = f"Saw completed job: {metadata.name}, condition: {condition['type']}"
                self._recorder.normal(cron_job, "SawCompletedJob", note)
            if condition["type"] == COMPLETE:
                _set_last_success(status, (job.get("status") or {}).get("completionTime"))
        uids = {meta(job).uid for job in jobs}
        for reference in list(status.get("active") or ()):
            if reference.get("uid") not in uids and not await self._exists(reference):
                self._recorder.normal(cron_job, "MissingJob", f"Active job went missing: {reference.get('name')}")
                remove_active(status, reference.get("uid", ""))

    async def _exists(self, reference: core_v1.ObjectReference) -> bool:
        try:
            await self._direct.in_namespace(reference.get("namespace", "")).get(reference.get("name", ""))
        except NotFound:
            return False
        return True

    async def _sync(self, cron_job: batch_v1.CronJob, status: batch_v1.CronJobStatus) -> float | None:
        """Start the Job that is due. Return the seconds until the next scheduled time, or None if there is none."""
        if meta(cron_job).deletion_timestamp is not None or not self._zone_is_known(cron_job):
            return None
        if cron_job["spec"].get("suspend"):
            return None
        if schedules.names_zone(cron_job):
            self._recorder.warning(
                cron_job,
                "UnsupportedSchedule",
                f"CRON_TZ or TZ used in schedule {quote(cron_job['spec']['schedule'])} is not officially supported, "
                "see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
            )
        try:
            schedule = schedules.schedule_of(cron_job)
        except ValueError as error:
            note = f"unparseable schedule: {quote(cron_job['spec']['schedule'])} : {error}"
            self._recorder.warning(cron_job, "UnparseableSchedule", note)
            return None
        now = self._clock.now()
        try:
            scheduled = self._due(cron_job, schedule, now)
        except schedules.ScheduleError as error:
            note = f"invalid schedule: {cron_job['spec']['schedule']} : {error}"
            self._recorder.warning(cron_job, "InvalidSchedule", note)
            return None
        if scheduled is not None and self._may_start(cron_job, scheduled, status):
            await self._start_job(cron_job, scheduled, status)
        return schedules.wait_s({**cron_job, "status": status}, schedule, now)

    def _zone_is_known(self, cron_job: batch_v1.CronJob) -> bool:
        zone = cron_job["spec"].get("timeZone") or ""
        try:
            check_time_zone(zone)
        except ValueError as error:
            self._recorder.warning(cron_job, "UnknownTimeZone", f"invalid timeZone: {quote(zone)}: {error}")
            return False
        return True

    def _due(self, cron_job: batch_v1.CronJob, schedule: Schedule, now: dt.datetime) -> dt.datetime | None:
        """Return the time that is due and within the starting deadline, or None. Raises `ScheduleError`."""
        latest, count = schedules.due(cron_job, schedule, now)
        if latest is None:
            return None
        if count > schedules.MANY:
            note = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
            self._recorder.warning(cron_job, "TooManyMissedTimes", note)
        late_s = schedules.deadline_s(cron_job)
        if late_s is not None and add_seconds(latest, late_s) < now:
            note = f"Missed scheduled time to start a job: {format_datetime(latest)}"
            self._recorder.warning(cron_job, "MissSchedule", note)
            return None
        return latest

    def _may_start(self, cron_job: batch_v1.CronJob, scheduled: dt.datetime, status: batch_v1.CronJobStatus) -> bool:
        """Return True if the Job of the scheduled time has not been started and the concurrency policy allows it."""
        active = status.get("active") or ()
        name = job_name(cron_job, scheduled)
        if any(each.get("name") == name for each in active) or status.get("lastScheduleTime") == format_time(scheduled):
            return False
        if cron_job["spec"].get("concurrencyPolicy") == "Forbid" and active:
            note = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self._recorder.normal(cron_job, "JobAlreadyActive", note)
            return False
        return True

    async def _start_job(
        self, cron_job: batch_v1.CronJob, scheduled: dt.datetime, status: batch_v1.CronJobStatus
    ) -> None:
        """Create the Job of a scheduled time and record it in the status. Raises `ClientError`."""
        if cron_job["spec"].get("concurrencyPolicy") == "Replace":
            for reference in list(status.get("active") or ()):
                await self._replace(cron_job, reference, status)
        desired = new_job(cron_job, scheduled)
        client = self._jobs.in_namespace(meta(cron_job).namespace)
        try:
            job = await client.create(desired)
        except AlreadyExists:
            # Either an earlier process created this Job and ended before it wrote the status, or another owner has it.
            job = await self._direct.in_namespace(meta(cron_job).namespace).get(meta(desired).name)
            controller = controller_of(job)
            if controller is None or controller.uid != meta(cron_job).uid or is_active(status, meta(job).uid):
                return
        except ApiError as error:
            if not error.has_cause(NAMESPACE_TERMINATING):
                self._recorder.warning(cron_job, "FailedCreate", f"Error creating job: {error}")
            raise
        else:
            self._recorder.normal(cron_job, "SuccessfulCreate", f"Created job {meta(job).name}")
        if finished_condition(job) is None:
            add_active(status, job)
        status["lastScheduleTime"] = format_time(scheduled)

    async def _replace(
        self, cron_job: batch_v1.CronJob, reference: core_v1.ObjectReference, status: batch_v1.CronJobStatus
    ) -> None:
        job = {
            "metadata": {
                "name": reference.get("name", ""),
                "namespace": reference.get("namespace", ""),
                "uid": reference.get("uid", ""),
            }
        }
        error = await self._delete_job(cron_job, job, status)
        if error is not None:
            raise error

    async def _delete_job(
        self, cron_job: batch_v1.CronJob, job: Mapping[str, Any], status: batch_v1.CronJobStatus
    ) -> ClientError | None:
        """Delete a Job; its Pods are deleted in the background. Return the error, if any."""
        metadata = meta(job)
        options = DeleteOptions(propagation_policy="Background", uid=metadata.uid)
        try:
            await self._jobs.in_namespace(metadata.namespace).delete(metadata.name, options)
        except NotFound:
            remove_active(status, metadata.uid)
            return None
        except ClientError as error:
            self._recorder.warning(cron_job, "FailedDelete", f"Deleted job: {error}")
            return error
        remove_active(status, metadata.uid)
        self._recorder.normal(cron_job, "SuccessfulDelete", f"Deleted job {metadata.name}")
        return None

    def _wait_after_change(self, cron_job: batch_v1.CronJob) -> float | None:
        """Return the seconds until a CronJob with a changed schedule must be reconciled; None if never."""
        try:
            schedule = schedules.schedule_of(cron_job)
        except ValueError:
            note = f"unparseable schedule for cronjob: {cron_job['spec']['schedule']}"
            self._recorder.warning(cron_job, "UnParseableCronJobSchedule", note)
            return None
        return schedules.wait_s(cron_job, schedule, self._clock.now())


def _set_last_success(status: batch_v1.CronJobStatus, completed: str | None) -> None:
    """Update the time of the last success. It never moves back."""
    last = status.get("lastSuccessfulTime")
    if completed and (not last or parse_time(completed) > parse_time(last)):
        status["lastSuccessfulTime"] = completed
