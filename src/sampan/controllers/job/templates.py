"""The Pods of a Job, as they are made.

Source: kube-controller-manager pkg/controller/job/indexed_job_utils.go (1.36).
"""

from typing import Any, Final

from sampan.controllers.job.backoff import FAILURE_COUNT, IGNORED_FAILURE_COUNT, failure_count, ignored_failure_count
from sampan.controllers.job.indexes import COMPLETION_INDEX
from sampan.controllers.job.policies import pod_failure
from sampan.controllers.job.seen import TRACKING_FINALIZER, Seen
from sampan.controllers.pod_control import pod_from_template
from sampan.core.names import GENERATED_NAME_LENGTH_MAX
from sampan.loops.views import Pod
from sampan.resource import Object, meta

COMPLETION_INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"
"""The environment variable that tells a container its index."""


def new_pod(seen: Seen, index: int | None) -> Object:
    """A Pod of the Job; with an index one that works on it."""
    template = seen.job["spec"]["template"]
    said: dict[str, Any] = dict(template.get("metadata") or {})
    finalizers = list(said.get("finalizers") or ())
    if TRACKING_FINALIZER not in finalizers:
        finalizers.append(TRACKING_FINALIZER)
    said["finalizers"] = finalizers
    if index is None:
        return pod_from_template({"metadata": said, "spec": template["spec"]}, seen.job)
    name = meta(seen.job).name
    said["labels"] = {**(said.get("labels") or {}), COMPLETION_INDEX: str(index)}
    said["annotations"] = {**(said.get("annotations") or {}), COMPLETION_INDEX: str(index)}
    if seen.spec.per_index:
        said["annotations"] |= _failure_counts(seen, seen.last_failed.get(index))
    spec = {**_telling_index(template["spec"]), "hostname": f"{name}-{index}"}
    return pod_from_template({"metadata": said, "spec": spec}, seen.job, generate_name=_generate_name(name, index))


def _generate_name(name: str, index: int) -> str:
    """A long name is cut so that the index stays whole."""
    end = f"-{index}-"
    return name[: GENERATED_NAME_LENGTH_MAX - len(end)] + end


def _failure_counts(seen: Seen, replaced: Pod | None) -> dict[str, str]:
    """The annotations that carry on an index's failures."""
    counted, ignored = 0, 0
    if replaced is not None:
        counts = pod_failure(seen.spec, replaced).counted
        counted = failure_count(replaced) + counts
        ignored = ignored_failure_count(replaced) + (not counts)
    annotations = {FAILURE_COUNT: str(counted)}
    if ignored:
        annotations[IGNORED_FAILURE_COUNT] = str(ignored)
    return annotations


def _telling_index(spec: Object) -> Object:
    """The spec, whose containers are told their index in the environment."""
    told = dict(spec)
    for kind in ("initContainers", "containers"):
        if spec.get(kind):
            told[kind] = [_with_variable(container) for container in spec[kind]]
    return told


def _with_variable(container: Object) -> Object:
    variables = container.get("env") or []
    if any(variable.get("name") == COMPLETION_INDEX_VARIABLE for variable in variables):
        return container
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}}
    return {**container, "env": [*variables, {"name": COMPLETION_INDEX_VARIABLE, "valueFrom": source}]}
