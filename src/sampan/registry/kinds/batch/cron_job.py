"""Cron jobs. Source: pkg/registry/batch/cronjob, pkg/apis/batch/{v1,validation} (1.36)."""

import re
from typing import Final

from sampan.core.cron import check_time_zone, parse_schedule
from sampan.core.field import Path, invalid, required
from sampan.core.object import Object
from sampan.registry.api_version_conversion import ApiVersionConversion
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import (
    EMPTY,
    NAME,
    NONE,
    UNSET,
    at,
    column,
    container_columns,
    count,
    integer,
    selector_column,
)
from sampan.registry.definition import Column
from sampan.registry.kind import Kind, KindVersion
from sampan.registry.kinds.batch.job_spec import check_job_spec, default_job_spec, job_spec_warnings
from sampan.registry.kinds.pod_spec import templates
from sampan.registry.rules.counts import check_counts
from sampan.registry.rules.fields import Errors, not_supported
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_JOB = Path("spec", "jobTemplate", "spec")
_POLICIES = ("Allow", "Forbid", "Replace")
_NAME_LENGTH_MAX = 52
_is_time_zone_part = re.compile(r"[A-Za-z.\-_0-9+]{1,14}").fullmatch


def _check_schedule(schedule: str, old: str | None, time_zone: str | None, path: Path, errors: Errors) -> None:
    try:
        parse_schedule(schedule)
    except ValueError as error:
        errors.append(invalid(path, schedule, str(error)))
    if "TZ" not in schedule:
        return
    if "TZ" not in (old or ""):
        detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.append(invalid(path, schedule, detail))
    elif time_zone is not None:
        detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        errors.append(invalid(path, schedule, detail))


def _check_time_zone(time_zone: str, path: Path, errors: Errors) -> None:
    if not time_zone:
        errors.append(invalid(path, time_zone, "timeZone must be nil or non-empty string"))
        return
    for part in time_zone.split("/"):
        if part in (".", "..") or part.startswith("-") or not _is_time_zone_part(part):
            errors.append(invalid(path, time_zone, f"unknown time zone {time_zone}"))
            return
    if time_zone.lower() == "local":
        detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        errors.append(invalid(path, time_zone, detail))
    try:
        check_time_zone(time_zone)
    except ValueError as error:
        errors.append(invalid(path, time_zone, str(error)))


def _check_job_template(spec: Object, old: Object | None, errors: Errors) -> None:
    check_job_spec(spec, old, _JOB, errors)
    if "selector" in spec:
        errors.append(invalid(_JOB.child("selector"), spec["selector"], "`selector` will be auto-generated"))
    if spec.get("manualSelector"):
        errors.append(not_supported(_JOB.child("manualSelector"), True, ("nil", "false")))


def _job_spec(spec: Object) -> Object:
    job: Object = spec.get("jobTemplate", {}).get("spec", {})
    return job


def _check_spec(spec: Object, old: Object | None, errors: Errors) -> None:
    schedule, time_zone = spec.get("schedule", ""), spec.get("timeZone")
    if schedule:
        old_schedule = None if old is None else old.get("schedule")
        _check_schedule(schedule, old_schedule, time_zone, _SPEC.child("schedule"), errors)
    else:
        errors.append(required(_SPEC.child("schedule")))
    check_counts(spec, ("startingDeadlineSeconds",), _SPEC, errors)
    if time_zone is not None and (old is None or old.get("timeZone") != time_zone):
        _check_time_zone(time_zone, _SPEC.child("timeZone"), errors)
    policy = spec.get("concurrencyPolicy", "")
    if not policy:
        errors.append(required(_SPEC.child("concurrencyPolicy")))
    elif policy not in _POLICIES:
        errors.append(not_supported(_SPEC.child("concurrencyPolicy"), policy, _POLICIES))
    _check_job_template(_job_spec(spec), None if old is None else _job_spec(old), errors)
    check_counts(spec, ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"), _SPEC, errors)


class CronJobStrategy(Strategy):
    """Defaults, rules and warnings of cron jobs."""

    def default(self, obj: Object) -> None:
        """Set defaults: jobs may overlap; the last three successful jobs and the last failed one are kept."""
        spec = obj.setdefault("spec", {})
        if not spec.get("concurrencyPolicy"):
            spec["concurrencyPolicy"] = "Allow"
        spec.setdefault("suspend", False)
        spec.setdefault("successfulJobsHistoryLimit", 3)
        spec.setdefault("failedJobsHistoryLimit", 1)
        job_template = spec.setdefault("jobTemplate", {})
        job_template.setdefault("metadata", {})
        default_job_spec(job_template.setdefault("spec", {}))

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        """Drop fields of disabled features from the template."""
        templates.drop_disabled_template_fields(_job_spec(obj["spec"]), None)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Drop fields of disabled features from the template, unless the stored object has them."""
        templates.drop_disabled_template_fields(_job_spec(obj["spec"]), _job_spec(old.get("spec", {})))

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update. A time zone in the schedule is tolerated if the stored schedule has one."""
        _check_spec(obj.get("spec", {}), old.get("spec", {}), errors)

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        """Check a new cron job. Its name is limited because it is part of its jobs' names."""
        _check_spec(obj.get("spec", {}), None, errors)
        name = obj["metadata"].get("name", "")
        if len(name) > _NAME_LENGTH_MAX:
            errors.append(invalid(Path("metadata", "name"), name, "must be no more than 52 characters"))

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warn about names that are poor host names, and return the warnings of the job's spec."""
        return templates.name_warnings(obj) + job_spec_warnings(_job_spec(obj["spec"]), None, _JOB)

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """Return the warnings of the job's spec if it changed, and warn about time zones in the schedule."""
        found: list[str] = []
        if obj["metadata"].get("generation") != old["metadata"].get("generation"):
            found = job_spec_warnings(_job_spec(obj["spec"]), _job_spec(old["spec"]), _JOB)
        if "TZ" in obj["spec"].get("schedule", ""):
            found.append(
                "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
                "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
            )
        return found


def _suspend(cron_job: Object) -> str:
    suspend = cron_job.get("spec", EMPTY).get("suspend")
    return UNSET if suspend is None else "True" if suspend else "False"


def _columns(ages: Ages) -> tuple[Column, ...]:
    def last_schedule(cron_job: Object) -> str:
        last = cron_job.get("status", EMPTY).get("lastScheduleTime")
        return NONE if last is None else ages.since(last)

    return (
        NAME,
        column("Schedule", at("spec", "schedule")),
        column("Timezone", at("spec", "timeZone", default=NONE)),
        column("Suspend", _suspend, type="boolean"),
        integer("Active", count("status", "active")),
        column("Last Schedule", last_schedule),
        ages.column,
        *container_columns("spec", "jobTemplate", "spec", "template"),
        selector_column("spec", "jobTemplate", "spec", "selector"),
    )


def _old_version(name: str) -> KindVersion:
    warning = f"batch/{name} CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob"
    return KindVersion(conversion=ApiVersionConversion(f"batch/{name}", "batch/v1"), deprecation_warning=warning)


KINDS: Final = (
    Kind(
        "batch",
        "cronjobs",
        CronJobStrategy(),
        columns=_columns,
        versions={name: _old_version(name) for name in ("v1beta1", "v2alpha1")},
    ),
)
