"""Types of batch/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import core_v1, meta_v1


class CronJob(TypedDict, total=False):
    """Object of the resource `cronjobs` in a namespace."""

    apiVersion: Required[Literal["batch/v1"]]
    kind: Required[Literal["CronJob"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[CronJobSpec]
    status: CronJobStatus


class CronJobList(TypedDict, total=False):
    """Response with a list of `CronJob`."""

    apiVersion: Required[Literal["batch/v1"]]
    items: Required[list[CronJob]]
    kind: Required[Literal["CronJobList"]]
    metadata: Required[meta_v1.ListMeta]


class CronJobSpec(TypedDict, total=False):
    """Type of `CronJob.spec`."""

    concurrencyPolicy: str
    failedJobsHistoryLimit: int
    jobTemplate: Required[JobTemplateSpec]
    schedule: Required[str]
    startingDeadlineSeconds: int
    successfulJobsHistoryLimit: int
    suspend: bool
    timeZone: str


class CronJobStatus(TypedDict, total=False):
    """Type of `CronJob.status`."""

    active: list[core_v1.ObjectReference]
    lastScheduleTime: meta_v1.Time
    lastSuccessfulTime: meta_v1.Time


class Job(TypedDict, total=False):
    """Object of the resource `jobs` in a namespace."""

    apiVersion: Required[Literal["batch/v1"]]
    kind: Required[Literal["Job"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[JobSpec]
    status: JobStatus


class JobCondition(TypedDict, total=False):
    """Type of `JobStatus.conditions`."""

    lastProbeTime: meta_v1.Time
    lastTransitionTime: meta_v1.Time
    message: str
    reason: str
    status: Required[str]
    type: Required[str]


class JobList(TypedDict, total=False):
    """Response with a list of `Job`."""

    apiVersion: Required[Literal["batch/v1"]]
    items: Required[list[Job]]
    kind: Required[Literal["JobList"]]
    metadata: Required[meta_v1.ListMeta]


class JobSpec(TypedDict, total=False):
    """Type of `Job.spec`, `JobTemplateSpec.spec`."""

    activeDeadlineSeconds: int
    backoffLimit: int
    backoffLimitPerIndex: int
    completionMode: str
    completions: int
    managedBy: str
    manualSelector: bool
    maxFailedIndexes: int
    parallelism: int
    podFailurePolicy: PodFailurePolicy
    podReplacementPolicy: str
    selector: meta_v1.LabelSelector
    successPolicy: SuccessPolicy
    suspend: bool
    template: Required[core_v1.PodTemplateSpec]
    ttlSecondsAfterFinished: int


class JobStatus(TypedDict, total=False):
    """Type of `Job.status`."""

    active: int
    completedIndexes: str
    completionTime: meta_v1.Time
    conditions: list[JobCondition]
    failed: int
    failedIndexes: str
    ready: int
    startTime: meta_v1.Time
    succeeded: int
    terminating: int
    uncountedTerminatedPods: UncountedTerminatedPods


class JobTemplateSpec(TypedDict, total=False):
    """Type of `CronJobSpec.jobTemplate`."""

    metadata: meta_v1.ObjectMeta
    spec: Required[JobSpec]


class PodFailurePolicy(TypedDict, total=False):
    """Type of `JobSpec.podFailurePolicy`."""

    rules: Required[list[PodFailurePolicyRule]]


class PodFailurePolicyOnExitCodesRequirement(TypedDict, total=False):
    """Type of `PodFailurePolicyRule.onExitCodes`."""

    containerName: str
    operator: Required[str]
    values: Required[list[int]]


class PodFailurePolicyOnPodConditionsPattern(TypedDict, total=False):
    """Type of `PodFailurePolicyRule.onPodConditions`."""

    status: str
    type: Required[str]


class PodFailurePolicyRule(TypedDict, total=False):
    """Type of `PodFailurePolicy.rules`."""

    action: Required[str]
    onExitCodes: PodFailurePolicyOnExitCodesRequirement
    onPodConditions: list[PodFailurePolicyOnPodConditionsPattern]


class SuccessPolicy(TypedDict, total=False):
    """Type of `JobSpec.successPolicy`."""

    rules: Required[list[SuccessPolicyRule]]


class SuccessPolicyRule(TypedDict, total=False):
    """Type of `SuccessPolicy.rules`."""

    succeededCount: int
    succeededIndexes: str


class UncountedTerminatedPods(TypedDict, total=False):
    """Type of `JobStatus.uncountedTerminatedPods`."""

    failed: list[str]
    succeeded: list[str]


GROUP_VERSION: Final = GroupVersion("batch", "v1")

RESOURCES: Final = {
    "CronJob": ("cronjobs", True),
    "Job": ("jobs", True),
}
"""Resources by their kinds, and True if they are in namespaces."""
