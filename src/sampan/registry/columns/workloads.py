"""Tables of apps and batch, and of the controllers in core that look like them."""

from collections.abc import Mapping
from typing import Any

from sampan.core.object import Object
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import (
    EMPTY,
    NAME,
    NONE,
    UNSET,
    at,
    column,
    condition_is_true,
    container_columns,
    count,
    integer,
    labels_text,
    selector_column,
    selector_text,
)
from sampan.registry.columns.tables import Tables


def _ready_of_desired(obj: Object) -> str:
    ready = obj.get("status", EMPTY).get("readyReplicas", 0)
    return f"{ready}/{obj.get('spec', EMPTY).get('replicas', 0)}"


def _deployment_selector(obj: Object) -> str:
    text = selector_text(obj.get("spec", EMPTY).get("selector"))
    return "<invalid>" if text is None else text


def _completions(job: Object) -> str:
    spec = job.get("spec", EMPTY)
    succeeded = job.get("status", EMPTY).get("succeeded", 0)
    if "completions" in spec:
        return f"{succeeded}/{spec['completions']}"
    parallelism = spec.get("parallelism", 0)
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_status(job: Object) -> str:
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


def _suspend(cron_job: Object) -> str:
    suspend = cron_job.get("spec", EMPTY).get("suspend")
    return UNSET if suspend is None else "True" if suspend else "False"


def _controller(revision: Object) -> str:
    for owner in revision["metadata"].get("ownerReferences", ()):
        if owner.get("controller"):
            return _resource_name(owner)
    return NONE


def _resource_name(owner: Mapping[str, Any]) -> str:
    group = owner["apiVersion"].rpartition("/")[0]
    kind = f"{owner['kind']}.{group}" if group else owner["kind"]
    return f"{kind.lower()}/{owner['name']}"


def workload_tables(ages: Ages) -> Tables:
    """Tables of apps, batch, replication controllers and pod templates."""
    return {**_replica_tables(ages), **_app_tables(ages), **_batch_tables(ages)}


def _replica_tables(ages: Ages) -> Tables:
    replicas = (
        NAME,
        integer("Desired", at("spec", "replicas", default=0)),
        integer("Current", at("status", "replicas", default=0)),
        integer("Ready", at("status", "readyReplicas", default=0)),
        ages.column,
        *container_columns("spec", "template"),
    )
    labels = column("Selector", lambda obj: labels_text(obj.get("spec", EMPTY).get("selector")), wide=True)
    return {
        ("apps", "replicasets", "v1"): (*replicas, selector_column("spec", "selector")),
        ("", "replicationcontrollers", "v1"): (*replicas, labels),
    }


def _app_tables(ages: Ages) -> Tables:
    age, template = ages.column, container_columns("spec", "template")
    return {
        ("apps", "deployments", "v1"): (
            NAME,
            column("Ready", _ready_of_desired),
            column("Up-to-date", at("status", "updatedReplicas", default=0)),
            column("Available", at("status", "availableReplicas", default=0)),
            age,
            *template,
            column("Selector", _deployment_selector, wide=True),
        ),
        ("apps", "statefulsets", "v1"): (NAME, column("Ready", _ready_of_desired), age, *template),
        ("apps", "daemonsets", "v1"): (
            NAME,
            integer("Desired", at("status", "desiredNumberScheduled", default=0)),
            integer("Current", at("status", "currentNumberScheduled", default=0)),
            integer("Ready", at("status", "numberReady", default=0)),
            integer("Up-to-date", at("status", "updatedNumberScheduled", default=0)),
            integer("Available", at("status", "numberAvailable", default=0)),
            column("Node Selector", _node_selector),
            age,
            *template,
            selector_column("spec", "selector"),
        ),
        ("apps", "controllerrevisions", "v1"): (
            NAME,
            column("Controller", _controller),
            column("Revision", at("revision", default=0)),
            age,
        ),
        ("", "podtemplates", "v1"): (
            NAME,
            *(column(each.name, each.cell) for each in container_columns("template")),
            column("Pod Labels", _template_labels),
        ),
    }


def _node_selector(obj: Object) -> str:
    template = obj.get("spec", EMPTY).get("template", EMPTY)
    return labels_text(template.get("spec", EMPTY).get("nodeSelector"))


def _template_labels(obj: Object) -> str:
    return labels_text(obj.get("template", EMPTY).get("metadata", EMPTY).get("labels"))


def _batch_tables(ages: Ages) -> Tables:
    def duration(job: Object) -> str:
        status = job.get("status", EMPTY)
        start = status.get("startTime")
        return "" if start is None else ages.between(start, status.get("completionTime"))

    def last_schedule(cron_job: Object) -> str:
        last = cron_job.get("status", EMPTY).get("lastScheduleTime")
        return NONE if last is None else ages.since(last)

    cron_jobs = (
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
    return {
        ("batch", "jobs", "v1"): (
            NAME,
            column("Status", _job_status),
            column("Completions", _completions),
            column("Duration", duration),
            ages.column,
            *container_columns("spec", "template"),
            selector_column("spec", "selector"),
        ),
        ("batch", "cronjobs", "v1"): cron_jobs,
        ("batch", "cronjobs", "v1beta1"): cron_jobs,
        ("batch", "cronjobs", "v2alpha1"): cron_jobs,
    }
