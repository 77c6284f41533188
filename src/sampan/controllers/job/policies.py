"""Pod failure policy and success policy of a Job.

Source: kube-controller-manager pkg/controller/job/{pod_failure_policy,success_policy}.go (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sampan.component_base.views import ContainerStatus, Pod
from sampan.controllers.job.indexes import Indexes
from sampan.controllers.job.spec import JobSpec
from sampan.kinds import batch_v1


class PodFailure(NamedTuple):
    """Effect of a failed Pod: the matching rule's action, whether it counts, and the message if it fails the Job."""

    action: str = ""
    counted: bool = True
    message: str = ""


def is_failed(pod: Pod, spec: JobSpec) -> bool:
    """Return True if a Pod counts as failed.

    A Pod that is being deleted does, unless the Job replaces Pods only after they have ended.
    """
    if pod.status.phase == "Failed":
        return True
    if spec.replaces_failed_only:
        return False
    return pod.metadata.deletion_timestamp is not None and pod.status.phase != "Succeeded"


def pod_failure(spec: JobSpec, pod: Pod) -> PodFailure:
    """Return the effect of a failed Pod, from the first matching rule."""
    for position, rule in enumerate(spec.failure_rules or ()):
        reason = _reason(rule, pod)
        if not reason:
            continue
        action = rule.get("action", "")
        if action == "FailJob":
            return PodFailure(action, True, f"{reason} matching FailJob rule at index {position}")
        if action in ("Ignore", "FailIndex", "Count"):
            return PodFailure(action, action != "Ignore")
    return PodFailure()


def job_failure_message(spec: JobSpec, pods: Iterable[Pod]) -> str:
    """Return the message if the policy fails the Job, or an empty string."""
    if spec.failure_rules is None:
        return ""
    return next((message for pod in pods if is_failed(pod, spec) and (message := pod_failure(spec, pod).message)), "")


def _reason(rule: batch_v1.PodFailurePolicyRule, pod: Pod) -> str:
    """Return a description of what a rule matches in a Pod, or an empty string."""
    where = f"{pod.metadata.namespace}/{pod.metadata.name}"
    if rule.get("onExitCodes") is not None:
        statuses = (*pod.status.container_statuses, *pod.status.init_container_statuses)
        for status in statuses:
            code = _exit_code(status, rule["onExitCodes"])
            if code is not None:
                return f"Container {status.name} for pod {where} failed with exit code {code}"
        return ""
    patterns = rule.get("onPodConditions") or ()
    for condition in pod.status.conditions:
        for pattern in patterns:
            if (condition.type, condition.status) == (pattern.get("type"), pattern.get("status")):
                return f"Pod {where} has condition {condition.type}"
    return ""


def _exit_code(status: ContainerStatus, requirement: batch_v1.PodFailurePolicyOnExitCodesRequirement) -> int | None:
    """Return the exit code of a failed container that meets the requirement, or None."""
    terminated = status.state.get("terminated")
    if terminated is None or requirement.get("containerName") not in (None, status.name):
        return None
    code = int(terminated.get("exitCode") or 0)
    listed = code in (requirement.get("values") or ())
    matches = listed if requirement.get("operator") == "In" else not listed and requirement.get("operator") == "NotIn"
    return code if code != 0 and matches else None


def success_message(spec: JobSpec, succeeded: Indexes) -> str:
    """Return the message if the success policy is met, or an empty string."""
    if not succeeded:
        return ""
    for position, rule in enumerate(spec.success_rules):
        if _is_met(rule, succeeded, spec.completions or 0):
            return f"Matched rules at index {position}"
    return ""


def _is_met(rule: batch_v1.SuccessPolicyRule, succeeded: Indexes, completions: int) -> bool:
    count = rule.get("succeededCount")
    if rule.get("succeededIndexes") is None:
        return count is not None and len(succeeded) >= count
    desired = Indexes.parse(rule["succeededIndexes"], completions)
    if not desired:
        return False
    common = desired.common(succeeded)
    return common == len(desired) or (count is not None and common >= count)
