"""Status of a job. Most unchanged fields are not checked again.

Source: pkg/registry/batch/job/strategy.go, pkg/apis/batch/validation/validation.go (1.36).
"""

from sampan.core.field import OMIT_VALUE, Path, duplicate, invalid, required
from sampan.core.object import Object
from sampan.registry.kinds.batch.indexes import count_indexes, overlap
from sampan.registry.rules.counts import check_counts
from sampan.registry.rules.fields import Errors

_STATUS = Path("status")
_CONDITIONS = Path("status", "conditions")


def is_condition_true(status: Object, kind: str) -> bool:
    """Return True if a condition of this type is True."""
    return any(c["type"] == kind and c["status"] == "True" for c in status.get("conditions", ()))


def _is_condition_false(status: Object, kind: str) -> bool:
    return any(c["type"] == kind and c["status"] == "False" for c in status.get("conditions", ()))


class _StatusChange:
    """Old and new status of a job, with the differences."""

    def __init__(self, job: Object, old: Object) -> None:
        self.spec: Object = job["spec"]
        self.status: Object = job.get("status", {})
        self.old: Object = old.get("status", {})
        self.complete = is_condition_true(self.status, "Complete")
        self.failed = is_condition_true(self.status, "Failed")
        self.failure_target = is_condition_true(self.status, "FailureTarget")
        self.success_criteria_met = is_condition_true(self.status, "SuccessCriteriaMet")
        self.finished = self.complete or self.failed
        self.complete_changed = self.complete != is_condition_true(self.old, "Complete")
        self.failed_changed = self.failed != is_condition_true(self.old, "Failed")
        was_finished = is_condition_true(self.old, "Complete") or is_condition_true(self.old, "Failed")
        self.finished_changed = self.finished != was_finished

    def changed(self, name: str) -> bool:
        """Return True if a field of the status changed. An absent counter or list equals an empty one."""
        empty: object = 0 if name in ("active",) else "" if name == "completedIndexes" else None
        return bool(self.status.get(name, empty) != self.old.get(name, empty))

    def condition_changed(self, kind: str) -> bool:
        """Return True if a condition became true or stopped being true."""
        return is_condition_true(self.status, kind) != is_condition_true(self.old, kind)


def _check_uncounted(status: Object, errors: Errors) -> None:
    uncounted = status.get("uncountedTerminatedPods", {})
    seen: set[str] = set()
    for name in ("succeeded", "failed"):
        for index, uid in enumerate(uncounted.get(name, ())):
            path = _STATUS.child("uncountedTerminatedPods", name).index(index)
            if not uid:
                errors.append(invalid(path, uid, "must not be empty"))
            elif uid in seen:
                errors.append(duplicate(path, uid))
            seen.add(uid)


def _refuse(errors: Errors, detail: str) -> None:
    errors.append(invalid(_CONDITIONS, OMIT_VALUE, detail))


def _check_terminal(facts: _StatusChange, errors: Errors) -> None:
    if (facts.complete_changed or facts.failed_changed) and facts.complete and facts.failed:
        _refuse(errors, "cannot set Complete=True and Failed=true conditions")
    target_changed = facts.condition_changed("FailureTarget")
    if (facts.complete_changed or target_changed) and facts.complete and facts.failure_target:
        _refuse(errors, "cannot set Complete=True and FailureTarget=true conditions")


def _check_times(facts: _StatusChange, errors: Errors) -> None:
    status = facts.status
    completion, start = status.get("completionTime"), status.get("startTime")
    path = _STATUS.child("completionTime")
    completion_changed = facts.changed("completionTime")
    if facts.complete_changed or completion_changed:
        if completion is not None and not facts.complete:
            detail = "cannot set completionTime when there is no Complete=True condition"
            errors.append(invalid(path, completion, detail))
        if completion is None and facts.complete:
            errors.append(required(path, "completionTime is required for Complete jobs"))
    if (
        (facts.changed("startTime") or completion_changed)
        and start is not None
        and completion is not None
        and completion < start
    ):
        errors.append(invalid(path, completion, "must be equal to or after `startTime`"))


def _check_targets(facts: _StatusChange, errors: Errors) -> None:
    indexes_changed = facts.changed("failedIndexes")
    if (facts.failed_changed or indexes_changed) and facts.failed and not facts.failure_target:
        _refuse(errors, "cannot set Failed=True condition without the FailureTarget=true condition")
    met_changed = facts.condition_changed("SuccessCriteriaMet")
    if (facts.complete_changed or met_changed) and facts.complete and not facts.success_criteria_met:
        _refuse(errors, "cannot set Complete=True condition without the SuccessCriteriaMet=true condition")


def _check_finished(facts: _StatusChange, errors: Errors) -> None:
    if not facts.finished:
        return
    status, spec = facts.status, facts.spec
    active = status.get("active", 0)
    if (facts.finished_changed or facts.changed("active")) and active > 0:
        errors.append(invalid(_STATUS.child("active"), active, "active>0 is invalid for finished job"))
    never_ran = spec.get("suspend") is True and spec.get("completions") == 0
    if (facts.finished_changed or facts.changed("startTime")) and not never_ran and "startTime" not in status:
        errors.append(required(_STATUS.child("startTime"), "startTime is required for finished job"))
    uncounted = status.get("uncountedTerminatedPods", {})
    if (facts.finished_changed or facts.changed("uncountedTerminatedPods")) and (
        uncounted.get("failed") or uncounted.get("succeeded")
    ):
        path = _STATUS.child("uncountedTerminatedPods")
        errors.append(invalid(path, uncounted, "must be empty for finished job"))


def _check_format(indexes: str, completions: int, name: str, errors: Errors) -> None:
    try:
        count_indexes(indexes, completions)
    except ValueError as error:
        errors.append(invalid(_STATUS.child(name), indexes, f"error parsing {name}: {error}"))


def _check_indexes(facts: _StatusChange, errors: Errors) -> None:
    status, spec = facts.status, facts.spec
    completed, failed = status.get("completedIndexes", ""), status.get("failedIndexes")
    completions, per_index = spec.get("completions"), "backoffLimitPerIndex" in spec
    completed_changed, failed_changed = facts.changed("completedIndexes"), facts.changed("failedIndexes")
    if completed_changed and completions is not None:
        _check_format(completed, completions, "completedIndexes", errors)
    if failed_changed and completions is not None and per_index and failed is not None:
        _check_format(failed, completions, "failedIndexes", errors)
    if completed_changed and completed and spec.get("completionMode") != "Indexed":
        detail = "cannot set non-empty completedIndexes when non-indexed completion mode"
        errors.append(invalid(_STATUS.child("completedIndexes"), completed, detail))
    if failed is None:
        return
    if failed_changed and not per_index:
        detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        errors.append(invalid(_STATUS.child("failedIndexes"), failed, detail))
    if (failed_changed or completed_changed) and completions is not None:
        index = overlap(completed, failed, completions)
        if index is not None:
            detail = f"failedIndexes and completedIndexes overlap at index: {index}"
            errors.append(invalid(_STATUS.child("failedIndexes"), failed, detail))


def _check_pods(facts: _StatusChange, errors: Errors) -> None:
    status = facts.status
    terminating, ready = status.get("terminating", 0), status.get("ready", 0)
    if (facts.finished_changed or facts.changed("terminating")) and terminating > 0 and facts.finished:
        errors.append(invalid(_STATUS.child("terminating"), terminating, "terminating>0 is invalid for finished job"))
    if (facts.changed("ready") or facts.changed("active")) and ready > status.get("active", 0):
        errors.append(invalid(_STATUS.child("ready"), ready, "cannot set more ready pods than active"))


def _check_success(facts: _StatusChange, errors: Errors) -> None:
    if facts.success_criteria_met and facts.failed:
        _refuse(errors, "cannot set SuccessCriteriaMet=True and Failed=true conditions")
    if facts.success_criteria_met and facts.failure_target:
        _refuse(errors, "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
    if "successPolicy" in facts.spec and not facts.success_criteria_met and facts.complete:
        _refuse(errors, "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")


def _check_counters(facts: _StatusChange, errors: Errors) -> None:
    spec = facts.spec
    elastic = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get("parallelism")
    for name in ("failed",) if elastic else ("failed", "succeeded"):
        value = facts.status.get(name, 0)
        if value < facts.old.get(name, 0):
            errors.append(invalid(_STATUS.child(name), value, f"cannot decrease the {name} counter"))


def _check_transition(facts: _StatusChange, errors: Errors) -> None:
    status, old = facts.status, facts.old
    for kind in ("Failed", "Complete", "FailureTarget"):
        if is_condition_true(old, kind) and not is_condition_true(status, kind):
            _refuse(errors, f"cannot disable the terminal {kind}=True condition")
    _check_counters(facts, errors)
    completion, old_completion = status.get("completionTime"), old.get("completionTime")
    if completion is not None and old_completion not in (None, completion):
        errors.append(invalid(_STATUS.child("completionTime"), completion, "field is immutable"))
    start, old_start = status.get("startTime"), old.get("startTime")
    resuming = is_condition_true(old, "Suspended") and _is_condition_false(status, "Suspended")
    if old_start not in (None, start) and not resuming and not facts.spec.get("suspend"):
        detail = "field is immutable for unsuspended job once set"
        errors.append(invalid(_STATUS.child("startTime"), start, detail))
    was_met = is_condition_true(old, "SuccessCriteriaMet")
    if was_met and not facts.success_criteria_met:
        _refuse(errors, "cannot disable the SuccessCriteriaMet=True condition")
    if is_condition_true(old, "Complete") and not was_met and facts.success_criteria_met:
        _refuse(errors, "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")


def check_job_status(job: Object, old: Object, errors: Errors) -> None:
    """Check a new status."""
    facts = _StatusChange(job, old)
    check_counts(facts.status, ("active", "succeeded", "failed", "ready", "terminating"), _STATUS, errors)
    _check_uncounted(facts.status, errors)
    for check in (
        _check_terminal,
        _check_times,
        _check_targets,
        _check_finished,
        _check_indexes,
        _check_pods,
        _check_success,
        _check_transition,
    ):
        check(facts, errors)
