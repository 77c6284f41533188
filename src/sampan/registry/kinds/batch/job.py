"""Jobs. Source: pkg/registry/batch/job, pkg/apis/batch/{v1,validation} (1.36)."""

import copy
from typing import Final

from sampan.core.field import Path, invalid, required
from sampan.core.object import Object, set_or_drop
from sampan.core.validation.names import dns1123_label_errors
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import EMPTY, NAME, column, condition_is_true, container_columns, selector_column
from sampan.registry.definition import Column
from sampan.registry.kind import Kind
from sampan.registry.kinds.batch.job_spec import check_job_spec, default_job_spec, job_spec_warnings
from sampan.registry.kinds.batch.job_status import check_job_status, is_condition_true
from sampan.registry.kinds.pod_spec import templates
from sampan.registry.rules.fields import Errors, check_immutable, check_label_selector
from sampan.registry.rules.selectors import check_selects_template, has_invalid_selector, selector_or_none
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_SELECTOR = Path("spec", "selector")
_TEMPLATE = Path("spec", "template")
_LABELS = Path("spec", "template", "metadata", "labels")
_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")
_UID_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")
_INT32_MAX = 2**31 - 1
_IMMUTABLE = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")
_SCHEDULING = ("nodeSelector", "tolerations", "schedulingGates")


def _template_labels(spec: Object) -> dict[str, str]:
    labels: dict[str, str] = spec.get("template", {}).get("metadata", {}).get("labels", {})
    return labels


def _check_label(labels: dict[str, str], key: str, expected: str, errors: Errors) -> None:
    actual = labels.get(key)
    if actual is None:
        errors.append(required(_LABELS.key(key), f"must be '{expected}'"))
    elif actual != expected:
        errors.append(invalid(_LABELS.key(key), labels, f"must be '{expected}'"))


def _check_generated_selector(job: Object, prefixed: bool, errors: Errors) -> None:
    """Check the selector that the server generated for this job, and the labels that it requires."""
    spec, metadata = job["spec"], job["metadata"]
    if spec.get("manualSelector") or spec.get("selector") is None:
        return
    uid, name = metadata.get("uid", ""), metadata.get("name", "")
    if not uid:
        errors.append(required(Path("metadata", "uid")))
    labels = _template_labels(spec)
    count = 2 if prefixed else 1
    expected: dict[str, str] = {}
    for uid_label, name_label in zip(_UID_LABELS[:count], _NAME_LABELS[:count], strict=True):
        _check_label(labels, uid_label, uid, errors)
        _check_label(labels, name_label, name, errors)
        expected |= {uid_label: uid, name_label: name}
    selector = selector_or_none(spec["selector"])
    if selector is not None and not selector.matches(expected):
        errors.append(invalid(_SELECTOR, spec["selector"], "`selector` not auto-generated"))


def _check_spec(spec: Object, old: Object | None, errors: Errors) -> None:
    check_job_spec(spec, old, _SPEC, errors)
    lenient = old is not None and has_invalid_selector(old.get("selector"))
    selector = spec.get("selector")
    if selector is None:
        errors.append(required(_SELECTOR))
    else:
        check_label_selector(selector, _SELECTOR, errors, allow_invalid_values=lenient)
    compiled = selector_or_none(selector)
    if compiled is not None:
        check_selects_template(compiled, spec.get("template", {}), _LABELS, errors)


def _check_job(job: Object, old: Object | None, errors: Errors) -> None:
    spec, old_spec = job["spec"], None if old is None else old["spec"]
    prefixed = True
    if old_spec is not None:
        old_labels = _template_labels(old_spec)
        prefixed = _NAME_LABELS[1] in old_labels and _UID_LABELS[1] in old_labels
    _check_generated_selector(job, prefixed, errors)
    _check_spec(spec, old_spec, errors)
    completions = spec.get("completions", 0)
    if spec.get("completionMode") == "Indexed" and completions > 0:
        name = job["metadata"].get("name", "")
        host = f"{name}-{completions - 1}"
        if dns1123_label_errors(host):
            detail = f"will not able to create pod with invalid DNS label: {host}"
            errors.append(invalid(Path("metadata", "name"), name, detail))


def _check_completions(spec: Object, old: Object, errors: Errors) -> None:
    path, completions = _SPEC.child("completions"), spec.get("completions")
    if spec.get("completionMode") != "Indexed":
        check_immutable(completions, old.get("completions"), path, errors)
    elif completions not in (None, old.get("completions"), spec.get("parallelism")):
        detail = "can only be modified in tandem with spec.parallelism"
        errors.append(invalid(path, completions, detail))


def _with_scheduling_of(template: Object, old: Object) -> Object:
    """Return the old template with the scheduling directives of the new template that a suspended job may change."""
    old = copy.deepcopy(old)
    pod, old_pod = template.get("spec", {}), old.setdefault("spec", {})
    for name in _SCHEDULING:
        set_or_drop(old_pod, name, pod.get(name))
    affinity = dict(old_pod.get("affinity") or {})
    set_or_drop(affinity, "nodeAffinity", (pod.get("affinity") or {}).get("nodeAffinity"))
    set_or_drop(old_pod, "affinity", affinity or ({} if pod.get("affinity") == {} else None))
    metadata, old_metadata = template.get("metadata", {}), old.setdefault("metadata", {})
    for name in ("labels", "annotations"):
        set_or_drop(old_metadata, name, metadata.get(name))
    return old


def _with_resources_of(pod: Object, old: Object) -> Object:
    """Return the old pod spec with the new resources of containers that have the same index and name."""
    old = copy.deepcopy(old)
    for kind in ("containers", "initContainers"):
        containers, old_containers = pod.get(kind, []), old.get(kind, [])
        if len(containers) == len(old_containers):
            for container, old_container in zip(containers, old_containers, strict=True):
                if container.get("name") == old_container.get("name"):
                    set_or_drop(old_container, "resources", container.get("resources"))
    return old


def _is_mutable(old: Object) -> bool:
    """Return True if the job is suspended and has no running pods, so that its template may change."""
    status = old.get("status", {})
    idle = "startTime" not in status or is_condition_true(status, "Suspended")
    return bool(old["spec"].get("suspend")) and idle and not status.get("active")


def _check_template_update(job: Object, old: Object, errors: Errors) -> None:
    template, old_template = job["spec"].get("template", {}), old["spec"].get("template", {})
    if template == old_template:
        return
    if not _is_mutable(old):
        check_immutable(template, old_template, _TEMPLATE, errors)
        return
    old_template = _with_scheduling_of(template, old_template)
    pod = template.get("spec", {})
    check_immutable(pod, _with_resources_of(pod, old_template["spec"]), _SPEC.child("template.spec"), errors)


class JobStrategy(Strategy):
    """Defaults, generated selectors, rules and warnings of jobs."""

    labels = ("status.successful",)
    default_propagation = "Orphan"
    deletion_warning = (
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
        "set propagationPolicy=Orphan to suppress this warning"
    )

    def default(self, obj: Object) -> None:
        """Set defaults: one completion, six retries, the labels of the template.

        The labels are the same map as those of the template, as in Kubernetes: later changes of one apply to both.
        """
        spec = obj.setdefault("spec", {})
        if "parallelism" not in spec:
            spec.setdefault("completions", 1)
            spec["parallelism"] = 1
        spec.setdefault("backoffLimit", _INT32_MAX if "backoffLimitPerIndex" in spec else 6)
        spec.setdefault("completionMode", "NonIndexed")
        spec.setdefault("suspend", False)
        spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
        spec.setdefault("manualSelector", False)
        default_job_spec(spec)
        labels = _template_labels(spec)
        if labels and not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = labels

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        """Generate the labels and the selector that tie pods to this job, unless the client manages the selector."""
        spec, metadata = obj["spec"], obj["metadata"]
        templates.drop_disabled_template_fields(spec, None)
        if spec.get("manualSelector"):
            return
        labels = spec.setdefault("template", {}).setdefault("metadata", {}).setdefault("labels", {})
        for key in _NAME_LABELS:
            labels.setdefault(key, metadata.get("name", ""))
        for key in _UID_LABELS:
            labels.setdefault(key, metadata.get("uid", ""))
        if metadata.get("labels") is labels or not metadata.get("labels"):
            metadata["labels"] = dict(labels)
        match_labels = spec.setdefault("selector", {}).setdefault("matchLabels", {})
        match_labels.setdefault(_UID_LABELS[1], metadata.get("uid", ""))

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Drop fields of disabled features from the template."""
        templates.drop_disabled_template_fields(obj["spec"], old.get("spec"))

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        _check_job(obj, None, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update: most fields are immutable. The spec is checked twice, as in Kubernetes."""
        spec, old_spec = obj["spec"], old["spec"]
        _check_job(obj, old, errors)
        _check_spec(spec, old_spec, errors)
        _check_completions(spec, old_spec, errors)
        check_immutable(spec.get("selector"), old_spec.get("selector"), _SELECTOR, errors)
        _check_template_update(obj, old, errors)
        for name in _IMMUTABLE:
            check_immutable(spec.get(name), old_spec.get(name), _SPEC.child(name), errors)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        """Warn about names that are poor host names, and return the warnings of the spec."""
        return templates.name_warnings(obj) + job_spec_warnings(obj["spec"], None, _SPEC)

    def warnings_on_update(self, ctx: Context, obj: Object, old: Object) -> list[str]:
        """Return the warnings of the spec if it changed."""
        if obj["metadata"].get("generation") == old["metadata"].get("generation"):
            return []
        return job_spec_warnings(obj["spec"], old["spec"], _SPEC)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check that counters, times and conditions are consistent and never go back."""
        check_job_status(obj, old, errors)

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        """Return `status.successful`."""
        return {"status.successful": str(obj.get("status", {}).get("succeeded", 0))}


def _completions(job: Object) -> str:
    spec = job.get("spec", EMPTY)
    succeeded = job.get("status", EMPTY).get("succeeded", 0)
    if "completions" in spec:
        return f"{succeeded}/{spec['completions']}"
    parallelism = spec.get("parallelism", 0)
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _status_text(job: Object) -> str:
    conditions = job.get("status", EMPTY).get("conditions", ())
    if condition_is_true(conditions, "Complete"):
        return "Complete"
    if condition_is_true(conditions, "Failed"):
        return "Failed"
    if "deletionTimestamp" in job["metadata"]:
        return "Terminating"
    for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if condition_is_true(conditions, kind):
            return kind
    return "Running"


def _columns(ages: Ages) -> tuple[Column, ...]:
    def duration(job: Object) -> str:
        status = job.get("status", EMPTY)
        start = status.get("startTime")
        return "" if start is None else ages.between(start, status.get("completionTime"))

    return (
        NAME,
        column("Status", _status_text),
        column("Completions", _completions),
        column("Duration", duration),
        ages.column,
        *container_columns("spec", "template"),
        selector_column("spec", "selector"),
    )


KINDS: Final = (Kind("batch", "jobs", JobStrategy(), columns=_columns),)
