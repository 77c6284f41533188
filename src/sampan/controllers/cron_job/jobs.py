"""Jobs of a CronJob: creation, references in the status, and the finished ones beyond the history limits.

Source: kube-controller-manager pkg/controller/cronjob/{cronjob_controllerv2,utils}.go (1.36).
"""

from __future__ import annotations

import copy
import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sampan.controllers.job.conditions import COMPLETE, FAILED, finished_condition
from sampan.core.cron import zone_of
from sampan.core.time import format_time, parse_time
from sampan.kinds import batch_v1, core_v1, meta_v1
from sampan.operator.owners.references import set_controller_reference
from sampan.resource import meta

SCHEDULED_TIMESTAMP: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"
"""Annotation of a Job with its scheduled time, in the CronJob's time zone."""


def job_name(cron_job: batch_v1.CronJob, scheduled: dt.datetime) -> str:
    """Return the name of the Job for a scheduled time. It is deterministic, so the same Job is never created twice."""
    return f"{meta(cron_job).name}-{int(scheduled.timestamp()) // 60}"


def new_job(cron_job: batch_v1.CronJob, scheduled: dt.datetime) -> batch_v1.Job:
    """Return the Job for a scheduled time."""
    template = cron_job["spec"]["jobTemplate"]
    template_metadata = template.get("metadata") or {}
    local = scheduled.astimezone(zone_of(cron_job["spec"].get("timeZone") or ""))
    metadata: meta_v1.ObjectMeta = {
        "name": job_name(cron_job, scheduled),
        "namespace": meta(cron_job).namespace,
        "annotations": {**(template_metadata.get("annotations") or {}), SCHEDULED_TIMESTAMP: _rfc3339(local)},
    }
    if template_metadata.get("labels"):
        metadata["labels"] = dict(template_metadata["labels"])
    spec = copy.deepcopy(template["spec"])
    job: batch_v1.Job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
    set_controller_reference(cron_job, job)
    return job


def _rfc3339(local: dt.datetime) -> str:
    text = local.isoformat("T", "seconds")
    return text[: -len("+00:00")] + "Z" if text.endswith("+00:00") else text


def _reference(job: batch_v1.Job) -> core_v1.ObjectReference:
    """Return the reference to a Job for the status."""
    metadata = meta(job)
    return {
        "kind": "Job",
        "namespace": metadata.namespace,
        "name": metadata.name,
        "uid": metadata.uid,
        "apiVersion": "batch/v1",
        "resourceVersion": metadata.resource_version,
    }


def is_active(status: batch_v1.CronJobStatus, uid: str) -> bool:
    """Return True if the status lists the Job as active."""
    return any(reference.get("uid") == uid for reference in status.get("active") or ())


def remove_active(status: batch_v1.CronJobStatus, uid: str) -> None:
    """Remove a Job from the active ones in a status."""
    left = [reference for reference in status.get("active") or () if reference.get("uid") != uid]
    if left:
        status["active"] = left
    else:
        status.pop("active", None)


def recover(cron_job: batch_v1.CronJob, jobs: Iterable[batch_v1.Job], status: batch_v1.CronJobStatus) -> bool:
    """Add started Jobs to the status that an earlier process did not record; return False if there are none.

    The caller must write the status first. Once such a Job is deleted, nothing else records that its time was started.
    """
    found = False
    for scheduled, job in sorted(_scheduled(cron_job, jobs), key=lambda each: each[0]):
        last = status.get("lastScheduleTime")
        if last and scheduled <= parse_time(last):
            continue
        status["lastScheduleTime"] = format_time(scheduled)
        if finished_condition(job) is None and not is_active(status, meta(job).uid):
            add_active(status, job)
        found = True
    return found


def _scheduled(cron_job: batch_v1.CronJob, jobs: Iterable[batch_v1.Job]) -> Iterator[tuple[dt.datetime, batch_v1.Job]]:
    """Yield the Jobs of scheduled times. Both their annotation and their name must match."""
    for job in jobs:
        try:
            scheduled = parse_time(meta(job).annotations.get(SCHEDULED_TIMESTAMP, ""))
        except ValueError:
            continue
        if meta(job).name == job_name(cron_job, scheduled):
            yield scheduled, job


def add_active(status: batch_v1.CronJobStatus, job: batch_v1.Job) -> None:
    """Add a Job to the active ones in a status."""
    status["active"] = [*(status.get("active") or ()), _reference(job)]


def history(cron_job: batch_v1.CronJob, jobs: Iterable[batch_v1.Job]) -> list[batch_v1.Job]:
    """Return the finished Jobs beyond the history limits, oldest first, without those that are being deleted."""
    spec, found = cron_job["spec"], list(jobs)
    old = _surplus(found, COMPLETE, spec.get("successfulJobsHistoryLimit"))
    old += _surplus(found, FAILED, spec.get("failedJobsHistoryLimit"))
    return [job for job in old if meta(job).deletion_timestamp is None]


def _surplus(jobs: Sequence[batch_v1.Job], condition: str, limit: int | None) -> list[batch_v1.Job]:
    if limit is None:
        return []
    finished = [job for job in jobs if (end := finished_condition(job)) is not None and end["type"] == condition]
    finished.sort(key=_by_start)
    return finished[: max(len(finished) - limit, 0)]


def _by_start(job: batch_v1.Job) -> tuple[bool, str, str]:
    """Sort key by start time. Jobs that never started come last."""
    start = (job.get("status") or {}).get("startTime") or ""
    return not start, start, meta(job).name
