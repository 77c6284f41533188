"""Creation of a Job's Pods.

Source: kube-controller-manager pkg/controller/job/indexed_job_utils.go (1.36).
"""

from __future__ import annotations

from typing import Final

from sampan.component_base.views import Pod
from sampan.controllers.job.backoff import FAILURE_COUNT, IGNORED_FAILURE_COUNT, failure_count, ignored_failure_count
from sampan.controllers.job.indexes import COMPLETION_INDEX
from sampan.controllers.job.policies import pod_failure
from sampan.controllers.job.state import TRACKING_FINALIZER, JobState
from sampan.controllers.workloads.pod_control import pod_from_template
from sampan.core.validation.names import GENERATED_NAME_LENGTH_MAX
from sampan.kinds import core_v1, meta_v1
from sampan.resource import meta

COMPLETION_INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"
"""Environment variable with a container's index."""


def new_pod(state: JobState, index: int | None) -> core_v1.Pod:
    """Return a new Pod of the Job, for an index if there is one."""
    template = state.job["spec"]["template"]
    metadata: meta_v1.ObjectMeta = {**(template.get("metadata") or {})}
    finalizers = list(metadata.get("finalizers") or ())
    if TRACKING_FINALIZER not in finalizers:
        finalizers.append(TRACKING_FINALIZER)
    metadata["finalizers"] = finalizers
    if index is None:
        return pod_from_template({"metadata": metadata, "spec": template["spec"]}, state.job)
    name = meta(state.job).name
    metadata["labels"] = {**(metadata.get("labels") or {}), COMPLETION_INDEX: str(index)}
    metadata["annotations"] = {**(metadata.get("annotations") or {}), COMPLETION_INDEX: str(index)}
    if state.spec.per_index:
        metadata["annotations"] |= _failure_counts(state, state.last_failed.get(index))
    spec: core_v1.PodSpec = {**_with_index_variable(template["spec"]), "hostname": f"{name}-{index}"}
    return pod_from_template({"metadata": metadata, "spec": spec}, state.job, generate_name=_generate_name(name, index))


def _generate_name(name: str, index: int) -> str:
    """Return the prefix of the Pod's name. A long name is truncated before the index."""
    end = f"-{index}-"
    return name[: GENERATED_NAME_LENGTH_MAX - len(end)] + end


def _failure_counts(state: JobState, replaced: Pod | None) -> dict[str, str]:
    """Return annotations that carry over an index's failure counts."""
    counted, ignored = 0, 0
    if replaced is not None:
        counts = pod_failure(state.spec, replaced).counted
        counted = failure_count(replaced) + counts
        ignored = ignored_failure_count(replaced) + (not counts)
    annotations = {FAILURE_COUNT: str(counted)}
    if ignored:
        annotations[IGNORED_FAILURE_COUNT] = str(ignored)
    return annotations


def _with_index_variable(spec: core_v1.PodSpec) -> core_v1.PodSpec:
    """Return a copy of the spec whose containers have the index in an environment variable."""
    copied: core_v1.PodSpec = {**spec, "containers": [_with_variable(each) for each in spec["containers"]]}
    if spec.get("initContainers"):
        copied["initContainers"] = [_with_variable(each) for each in spec["initContainers"]]
    return copied


def _with_variable(container: core_v1.Container) -> core_v1.Container:
    variables = container.get("env") or []
    if any(variable.get("name") == COMPLETION_INDEX_VARIABLE for variable in variables):
        return container
    source: core_v1.EnvVarSource = {"fieldRef": {"fieldPath": f"metadata.labels['{COMPLETION_INDEX}']"}}
    return {**container, "env": [*variables, {"name": COMPLETION_INDEX_VARIABLE, "valueFrom": source}]}
