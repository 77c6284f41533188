"""Jobs and CronJobs."""

from typing import Any, Final

from sampan.cli.objects.describers.describer import Describer, DescriptionRow, Value, at, plain, rows
from sampan.cli.objects.describers.pod_template import pod_template, template_at
from sampan.cli.objects.describers.values import (
    ANNOTATIONS,
    CONTROLLER,
    LABELS,
    NAME,
    NAMESPACE,
    SELECTOR,
    between,
    selector,
    time,
)
from sampan.resource import Object

_INDEXES_MAX: Final = 50


def _duration(job: Object) -> str | None:
    start, end = at(job, "status.startTime"), at(job, "status.completionTime")
    return between(start, end) if start and end else None


def _pods_statuses(job: Object) -> str:
    status = job.get("status") or {}
    ready = f" ({status['ready']} Ready)" if status.get("ready") is not None else ""
    active, succeeded, failed = (status.get(name) or 0 for name in ("active", "succeeded", "failed"))
    return f"{active} Active{ready} / {succeeded} Succeeded / {failed} Failed"


def _completed_indexes(job: Object) -> str | None:
    """Return the completed indexes of an indexed Job, cut after the last whole index that fits."""
    if at(job, "spec.completionMode") != "Indexed":
        return None
    text: str = at(job, "status.completedIndexes") or "<none>"
    return text if len(text) <= _INDEXES_MAX else text[: text.rfind(",", 0, _INDEXES_MAX) + 1] + "..."


def _seconds(value: int) -> str:
    return f"{value}s"


def _or_unset(label: str, value: Value, show: Any = plain) -> DescriptionRow:
    return DescriptionRow(label, value, show, default="<unset>")


def _active_jobs(cron_job: Object) -> str:
    return ", ".join(each.get("name", "") for each in at(cron_job, "status.active") or ()) or "<none>"


JOB: Final = Describer(
    (
        rows(
            NAME,
            NAMESPACE,
            SELECTOR,
            LABELS,
            ANNOTATIONS,
            CONTROLLER,
            DescriptionRow("Parallelism", "spec.parallelism"),
            _or_unset("Completions", "spec.completions"),
            DescriptionRow("Completion Mode", "spec.completionMode"),
            DescriptionRow("Suspend", "spec.suspend"),
            DescriptionRow("Backoff Limit", "spec.backoffLimit"),
            DescriptionRow("TTL Seconds After Finished", "spec.ttlSecondsAfterFinished"),
            DescriptionRow("Start Time", "status.startTime", time),
            DescriptionRow("Completed At", "status.completionTime", time),
            DescriptionRow("Duration", _duration),
            DescriptionRow("Active Deadline Seconds", "spec.activeDeadlineSeconds", _seconds),
            DescriptionRow("Pods Statuses", _pods_statuses),
            DescriptionRow("Completed Indexes", _completed_indexes),
        ),
        pod_template,
    )
)

CRON_JOB: Final = Describer(
    (
        rows(
            NAME,
            NAMESPACE,
            LABELS,
            ANNOTATIONS,
            DescriptionRow("Schedule", "spec.schedule"),
            DescriptionRow("Concurrency Policy", "spec.concurrencyPolicy"),
            _or_unset("Suspend", "spec.suspend", str),
            _or_unset("Time Zone", "spec.timeZone"),
            _or_unset("Successful Job History Limit", "spec.successfulJobsHistoryLimit"),
            _or_unset("Failed Job History Limit", "spec.failedJobsHistoryLimit"),
            _or_unset("Starting Deadline Seconds", "spec.startingDeadlineSeconds", _seconds),
            _or_unset("Selector", "spec.jobTemplate.spec.selector", selector),
            _or_unset("Parallelism", "spec.jobTemplate.spec.parallelism"),
            _or_unset("Completions", "spec.jobTemplate.spec.completions"),
            DescriptionRow("Active Deadline Seconds", "spec.jobTemplate.spec.activeDeadlineSeconds", _seconds),
        ),
        template_at("spec.jobTemplate.spec.template"),
        rows(
            _or_unset("Last Schedule Time", "status.lastScheduleTime", time),
            DescriptionRow("Active Jobs", _active_jobs),
        ),
    )
)
