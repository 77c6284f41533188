"""Spec of a job, alone or in a cron job. Source: pkg/apis/batch/validation/validation.go (1.36)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sampan.core.field import (
    OMIT_VALUE,
    Path,
    duplicate,
    invalid,
    quote,
    required,
    too_long,
    too_many,
)
from sampan.core.object import Object
from sampan.core.validation.domains import domain_prefixed_path_errors
from sampan.kinds import batch_v1
from sampan.registry.kinds.batch.indexes import count_indexes
from sampan.registry.kinds.pod_spec import templates
from sampan.registry.rules.counts import check_counts
from sampan.registry.rules.fields import Errors, check_not_negative, check_qualified_name, not_supported

_PARALLELISM_MAX = 100_000
_FAILED_INDEXES_MAX = 100_000
_MANY_COMPLETIONS = 100_000
_PARALLELISM_MAX_WHEN_MANY = 10_000
_FAILED_INDEXES_MAX_WHEN_MANY = 10_000
_RULES_MAX = 20
_EXIT_CODES_MAX = 255
_PATTERNS_MAX = 20
_MANAGED_BY_LENGTH_MAX = 63
_SUCCEEDED_INDEXES_LENGTH_MAX = 64 * 1024
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MANY = "when completions are above 100000 and used with backoff limit per index"


def _failure_rules(spec: batch_v1.JobSpec) -> list[batch_v1.PodFailurePolicyRule]:
    """Return the rules of the pod failure policy. If there is a policy, its rules are always present."""
    policy: Any = spec.get("podFailurePolicy")
    return [] if policy is None else policy.setdefault("rules", None) or []


def default_job_spec(spec: batch_v1.JobSpec) -> None:
    """Set the defaults that the specs of jobs and cron jobs share."""
    for rule in _failure_rules(spec):
        for pattern in rule.get("onPodConditions", ()):
            if not pattern.get("status"):
                pattern["status"] = "True"
    templates.default_template(spec)


def _go_list(values: Iterable[str]) -> str:
    return f"valid values: [{' '.join(map(quote, values))}]"


def _check_indexed(spec: batch_v1.JobSpec, path: Path, errors: Errors) -> None:
    completions, parallelism = spec.get("completions"), spec.get("parallelism", 0)
    failed = spec.get("maxFailedIndexes")
    if completions is None:
        errors.append(required(path.child("completions"), "when completion mode is Indexed"))
    if parallelism > _PARALLELISM_MAX:
        detail = f"must be less than or equal to {_PARALLELISM_MAX} when completion mode is Indexed"
        errors.append(invalid(path.child("parallelism"), parallelism, detail))
    if failed is not None:
        if completions is not None and failed > completions:
            detail = "must be less than or equal to completions"
            errors.append(invalid(path.child("maxFailedIndexes"), failed, detail))
        if failed > _FAILED_INDEXES_MAX:
            detail = f"must be less than or equal to {_FAILED_INDEXES_MAX}"
            errors.append(invalid(path.child("maxFailedIndexes"), failed, detail))
    if (completions or 0) <= _MANY_COMPLETIONS or "backoffLimitPerIndex" not in spec:
        return
    if failed is None:
        detail = f"must be specified when completions is above {_MANY_COMPLETIONS}"
        errors.append(required(path.child("maxFailedIndexes"), detail))
    if parallelism > _PARALLELISM_MAX_WHEN_MANY:
        detail = f"must be less than or equal to {_PARALLELISM_MAX_WHEN_MANY} {_MANY}"
        errors.append(invalid(path.child("parallelism"), parallelism, detail))
    if (failed or 0) > _FAILED_INDEXES_MAX_WHEN_MANY:
        detail = f"must be less than or equal to {_FAILED_INDEXES_MAX_WHEN_MANY} {_MANY}"
        errors.append(invalid(path.child("maxFailedIndexes"), failed, detail))


def _check_completion_mode(spec: batch_v1.JobSpec, path: Path, errors: Errors) -> None:
    mode = spec.get("completionMode", "NonIndexed")
    if mode not in ("NonIndexed", "Indexed"):
        errors.append(not_supported(path.child("completionMode"), mode, ("NonIndexed", "Indexed")))
    elif mode == "Indexed":
        _check_indexed(spec, path, errors)
    else:
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if name in spec:
                errors.append(invalid(path.child(name), spec[name], "requires indexed completion mode"))


def _check_exit_codes(
    rule: batch_v1.PodFailurePolicyOnExitCodesRequirement, containers: set[str], path: Path, errors: Errors
) -> None:
    operator = rule.get("operator", "")
    if not operator:
        errors.append(required(path.child("operator"), _go_list(_OPERATORS)))
    elif operator not in _OPERATORS:
        errors.append(not_supported(path.child("operator"), operator, _OPERATORS))
    name = rule.get("containerName")
    if name is not None and name not in containers:
        detail = "must be one of the container or initContainer names in the pod template"
        errors.append(invalid(path.child("containerName"), name, detail))
    values, at = rule.get("values"), path.child("values")
    if not values:
        errors.append(invalid(at, values, "at least one value is required"))
        return
    if len(values) > _EXIT_CODES_MAX:
        errors.append(too_many(at, len(values), _EXIT_CODES_MAX))
    seen: set[int] = set()
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            errors.append(invalid(at.index(index), value, "must not be 0 for the In operator"))
        if value in seen:
            errors.append(duplicate(at.index(index), value))
        seen.add(value)
    if values != sorted(values):
        errors.append(invalid(at, values, "must be ordered"))


def _check_pod_conditions(
    patterns: list[batch_v1.PodFailurePolicyOnPodConditionsPattern], path: Path, errors: Errors
) -> None:
    if len(patterns) > _PATTERNS_MAX:
        errors.append(too_many(path, len(patterns), _PATTERNS_MAX))
    for index, pattern in enumerate(patterns):
        at = path.index(index)
        check_qualified_name(pattern.get("type", ""), at.child("type"), errors)
        status = pattern.get("status", "")
        if not status:
            errors.append(required(at.child("status"), _go_list(_STATUSES)))
        elif status not in _STATUSES:
            errors.append(not_supported(at.child("status"), status, _STATUSES))


def _check_failure_rule(
    spec: batch_v1.JobSpec, rule: batch_v1.PodFailurePolicyRule, containers: set[str], path: Path, errors: Errors
) -> None:
    action = rule.get("action", "")
    if not action:
        errors.append(required(path.child("action"), _go_list(_ACTIONS)))
    elif action == "FailIndex":
        if "backoffLimitPerIndex" not in spec:
            errors.append(invalid(path.child("action"), action, "requires the backoffLimitPerIndex to be set"))
    elif action not in _ACTIONS:
        errors.append(not_supported(path.child("action"), action, _ACTIONS))
    exit_codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    if exit_codes is not None:
        _check_exit_codes(exit_codes, containers, path.child("onExitCodes"), errors)
    if conditions:
        _check_pod_conditions(conditions, path.child("onPodConditions"), errors)
    if exit_codes is not None and conditions:
        errors.append(invalid(path, OMIT_VALUE, "specifying both OnExitCodes and OnPodConditions is not supported"))
    if exit_codes is None and not conditions:
        errors.append(invalid(path, OMIT_VALUE, "specifying one of OnExitCodes and OnPodConditions is required"))


def _check_failure_policy(spec: batch_v1.JobSpec, path: Path, errors: Errors) -> None:
    rules, at = _failure_rules(spec), path.child("rules")
    if len(rules) > _RULES_MAX:
        errors.append(too_many(at, len(rules), _RULES_MAX))
    pod = spec.get("template", {}).get("spec", {})
    containers = {c.get("name", "") for kind in ("containers", "initContainers") for c in pod.get(kind, ())}
    for index, rule in enumerate(rules):
        _check_failure_rule(spec, rule, containers, at.index(index), errors)


def _check_success_rule(rule: batch_v1.SuccessPolicyRule, completions: int, path: Path, errors: Errors) -> None:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        errors.append(required(path, "at least one of succeededCount or succeededIndexes must be specified"))
    total = 0
    if indexes is not None:
        at = path.child("succeededIndexes")
        if len(indexes) > _SUCCEEDED_INDEXES_LENGTH_MAX:
            errors.append(too_long(at, "", _SUCCEEDED_INDEXES_LENGTH_MAX))
        try:
            total = count_indexes(indexes, completions)
        except ValueError as error:
            errors.append(invalid(at, indexes, f"error parsing succeededIndexes: {error}"))
    if count is None:
        return
    at = path.child("succeededCount")
    check_not_negative(count, at, errors)
    if count > completions:
        detail = f"must be less than or equal to {completions} (the number of specified completions)"
        errors.append(invalid(at, count, detail))
    if indexes is not None and count > total:
        detail = (
            f"must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
        )
        errors.append(invalid(at, count, detail))


def _check_success_policy(spec: batch_v1.JobSpec, path: Path, errors: Errors) -> None:
    policy = spec["successPolicy"]
    if spec.get("completionMode") != "Indexed":
        errors.append(invalid(path, policy, "requires indexed completion mode"))
        return
    rules, at = policy.get("rules", ()), path.child("rules")
    if not rules:
        errors.append(required(at, "at least one rules must be specified when the successPolicy is specified"))
    if len(rules) > _RULES_MAX:
        errors.append(too_many(at, len(rules), _RULES_MAX))
    for index, rule in enumerate(rules):
        _check_success_rule(rule, spec.get("completions", 0), at.index(index), errors)


def _check_replacement_policy(spec: batch_v1.JobSpec, path: Path, errors: Errors) -> None:
    policy = spec.get("podReplacementPolicy")
    known = ("Failed",) if "podFailurePolicy" in spec else ("Failed", "TerminatingOrFailed")
    if policy is not None and policy not in known:
        errors.append(not_supported(path, policy, known))


def _check_restart_policy(spec: batch_v1.JobSpec, path: Path, errors: Errors) -> None:
    policy = spec.get("template", {}).get("spec", {}).get("restartPolicy", "")
    if policy in ("Always", ""):
        errors.append(required(path, 'valid values: "OnFailure", "Never"'))
    elif policy not in ("OnFailure", "Never"):
        errors.append(not_supported(path, policy, ("OnFailure", "Never")))
    elif "podFailurePolicy" in spec and policy != "Never":
        errors.append(invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified'))


def check_job_spec(spec: Any, old: Object | None, path: Path, errors: Errors) -> None:
    """Check the spec of a job, without its selector. `old` is the stored spec."""
    check_counts(
        spec,
        (
            "parallelism",
            "completions",
            "activeDeadlineSeconds",
            "backoffLimit",
            "ttlSecondsAfterFinished",
            "backoffLimitPerIndex",
            "maxFailedIndexes",
        ),
        path,
        errors,
    )
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        errors.append(required(path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
    manager = spec.get("managedBy")
    if manager is not None:
        errors.extend(domain_prefixed_path_errors(path.child("managedBy"), manager))
        if len(manager) > _MANAGED_BY_LENGTH_MAX:
            errors.append(too_long(path.child("managedBy"), "", _MANAGED_BY_LENGTH_MAX))
    _check_completion_mode(spec, path, errors)
    if "podFailurePolicy" in spec:
        _check_failure_policy(spec, path.child("podFailurePolicy"), errors)
    if "successPolicy" in spec:
        _check_success_policy(spec, path.child("successPolicy"), errors)
    _check_replacement_policy(spec, path.child("podReplacementPolicy"), errors)
    old_template = None if old is None else old.get("template")
    templates.check_template(spec.get("template", {}), old_template, path.child("template"), errors)
    _check_restart_policy(spec, path.child("template", "spec", "restartPolicy"), errors)


def job_spec_warnings(spec: Any, old: Object | None, path: Path) -> list[str]:
    """Warn about numbers that are hard to track, and return the warnings of the template.

    Source: pkg/api/job/warnings.go (1.36).
    """
    found: list[str] = []
    if (
        spec.get("completionMode") == "Indexed"
        and spec.get("completions", 0) > _MANY_COMPLETIONS
        and spec.get("parallelism", 0) > _PARALLELISM_MAX_WHEN_MANY
    ):
        found.append(
            f"{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than "
            "10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        )
    old_template = None if old is None else old.get("template")
    return found + templates.warnings(spec.get("template", {}), old_template, path.child("template"))
