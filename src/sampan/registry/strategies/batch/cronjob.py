"""Cron jobs. Source: pkg/registry/batch/cronjob, pkg/apis/batch/{v1,validation} (1.36)."""

import re

from sampan.core.cron import check_time_zone, parse_schedule
from sampan.core.field import FieldError, Path, invalid, required
from sampan.core.object import Object
from sampan.registry.strategies import templates
from sampan.registry.strategies.batch.jobspec import check_job_spec, default_job_spec, job_spec_warnings
from sampan.registry.strategies.core.fields import Errors, not_supported
from sampan.registry.strategies.counts import check_counts
from sampan.registry.strategies.spec import SpecStrategy
from sampan.registry.strategy import Context

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


class CronJobStrategy(SpecStrategy):
    """Defaults, rules and warnings of cron jobs."""

    def default(self, obj: Object) -> None:
        """Jobs may overlap; the last three good ones and the last bad one are kept."""
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
        """Features that are off leave the template."""
        templates.drop_disabled_template_fields(_job_spec(obj["spec"]), None)

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """The same, but for what is stored already."""
        templates.drop_disabled_template_fields(_job_spec(obj["spec"]), _job_spec(old.get("spec", {})))

    def check_spec(self, spec: Object, old: Object | None, errors: Errors) -> None:
        """A time zone in the schedule is tolerated where there was one."""
        _check_spec(spec, old, errors)

    def validate(self, ctx: Context, obj: Object) -> list[FieldError]:
        """The rules of a new cron job, whose name is part of its jobs' names."""
        errors = super().validate(ctx, obj)
        name = obj["metadata"].get("name", "")
        if len(name) > _NAME_LENGTH_MAX:
            errors.append(invalid(Path("metadata", "name"), name, "must be no more than 52 characters"))
        return errors

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Names that make poor host names, and what the job's spec says."""
        return templates.name_warnings(obj) + job_spec_warnings(_job_spec(obj["spec"]), None, _JOB)

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """What the job's spec says, if it changed, and time zones in the schedule."""
        found: list[str] = []
        if obj["metadata"].get("generation") != old["metadata"].get("generation"):
            found = job_spec_warnings(_job_spec(obj["spec"]), _job_spec(old["spec"]), _JOB)
        if "TZ" in obj["spec"].get("schedule", ""):
            found.append(
                "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
                "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
            )
        return found
