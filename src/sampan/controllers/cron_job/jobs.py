"""The Jobs of a CronJob: what they are made of, how its status lists them, and which ones are history.

Source: kube-controller-manager pkg/controller/cronjob/{cronjob_controllerv2,utils}.go (1.36).
"""

import copy
import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sampan.controllers.job.conditions import COMPLETE, FAILED, finished_condition
from sampan.core.cron import zone_of
from sampan.core.time import format_time, parse_time
from sampan.operator.owner_references import set_controller_reference
from sampan.resource import Object, meta

SCHEDULED_TIMESTAMP: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"
"""Annotation of a Job: the time that it was due, by the clocks of the CronJob's time zone."""


def job_name(cron_job: Object, scheduled: dt.datetime) -> str:
    """The name of the Job for a time: it is the same whenever it is made, so that none is made twice."""
    return f"{meta(cron_job).name}-{int(scheduled.timestamp()) // 60}"


def new_job(cron_job: Object, scheduled: dt.datetime) -> Object:
    """The Job that is due at a time."""
    template = cron_job["spec"]["jobTemplate"]
    said = template.get("metadata") or {}
    local = scheduled.astimezone(zone_of(cron_job["spec"].get("timeZone") or ""))
    metadata: dict[str, Any] = {
        "name": job_name(cron_job, scheduled),
        "namespace": meta(cron_job).namespace,
        "annotations": {**(said.get("annotations") or {}), SCHEDULED_TIMESTAMP: _rfc3339(local)},
    }
    if said.get("labels"):
        metadata["labels"] = dict(said["labels"])
    job: Object = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata}
    job["spec"] = copy.deepcopy(template.get("spec") or {})
    set_controller_reference(cron_job, job)
    return job


def _rfc3339(local: dt.datetime) -> str:
    text = local.isoformat("T", "seconds")
    return text[: -len("+00:00")] + "Z" if text.endswith("+00:00") else text


def _reference(job: Object) -> Object:
    """A Job as the status lists it."""
    metadata = meta(job)
    return {
        "kind": "Job",
        "namespace": metadata.namespace,
        "name": metadata.name,
        "uid": metadata.uid,
        "apiVersion": "batch/v1",
        "resourceVersion": metadata.resource_version,
    }


def is_active(status: Object, uid: str) -> bool:
    """Whether a status lists a Job as active."""
    return any(reference.get("uid") == uid for reference in status.get("active") or ())


def forget_active(status: Object, uid: str) -> None:
    """Take a Job out of those that are active."""
    left = [reference for reference in status.get("active") or () if reference.get("uid") != uid]
    if left:
        status["active"] = left
    else:
        status.pop("active", None)


def recover(cron_job: Object, jobs: Iterable[Object], status: Object) -> bool:
    """Put into a status what was started and not told, as this process ended in between; False when there is nothing.

    To be written before anything else is done: once such a Job is deleted, nothing tells that its time was started.
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


def _scheduled(cron_job: Object, jobs: Iterable[Object]) -> Iterator[tuple[dt.datetime, Object]]:
    """The Jobs that were made for a time, as their names say too."""
    for job in jobs:
        try:
            scheduled = parse_time(meta(job).annotations.get(SCHEDULED_TIMESTAMP, ""))
        except ValueError:
            continue
        if meta(job).name == job_name(cron_job, scheduled):
            yield scheduled, job


def add_active(status: Object, job: Object) -> None:
    """List a Job among those that are active."""
    status["active"] = [*(status.get("active") or ()), _reference(job)]


def history(cron_job: Object, jobs: Iterable[Object]) -> list[Object]:
    """The finished Jobs that are more than the limits allow, the oldest first; not those that are being deleted."""
    spec, found = cron_job["spec"], list(jobs)
    old = _surplus(found, COMPLETE, spec.get("successfulJobsHistoryLimit"))
    old += _surplus(found, FAILED, spec.get("failedJobsHistoryLimit"))
    return [job for job in old if meta(job).deletion_timestamp is None]


def _surplus(jobs: Sequence[Object], how: str, limit: int | None) -> list[Object]:
    if limit is None:
        return []
    finished = [job for job in jobs if (finished_condition(job) or {}).get("type") == how]
    finished.sort(key=_by_start)
    return finished[: max(len(finished) - limit, 0)]


def _by_start(job: Object) -> tuple[bool, str, str]:
    """By when they began; what never did comes last."""
    start = (job.get("status") or {}).get("startTime") or ""
    return not start, start, meta(job).name
