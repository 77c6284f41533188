"""Types of apps/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import core_v1, meta_v1


class ControllerRevision(TypedDict, total=False):
    """Object of the resource `controllerrevisions` in a namespace."""

    apiVersion: Required[Literal["apps/v1"]]
    data: meta_v1.RawExtension
    kind: Required[Literal["ControllerRevision"]]
    metadata: Required[meta_v1.ObjectMeta]
    revision: Required[int]


class ControllerRevisionList(TypedDict, total=False):
    """Response with a list of `ControllerRevision`."""

    apiVersion: Required[Literal["apps/v1"]]
    items: Required[list[ControllerRevision]]
    kind: Required[Literal["ControllerRevisionList"]]
    metadata: Required[meta_v1.ListMeta]


class DaemonSet(TypedDict, total=False):
    """Object of the resource `daemonsets` in a namespace."""

    apiVersion: Required[Literal["apps/v1"]]
    kind: Required[Literal["DaemonSet"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[DaemonSetSpec]
    status: DaemonSetStatus


class DaemonSetCondition(TypedDict, total=False):
    """Type of `DaemonSetStatus.conditions`."""

    lastTransitionTime: meta_v1.Time
    message: str
    reason: str
    status: Required[str]
    type: Required[str]


class DaemonSetList(TypedDict, total=False):
    """Response with a list of `DaemonSet`."""

    apiVersion: Required[Literal["apps/v1"]]
    items: Required[list[DaemonSet]]
    kind: Required[Literal["DaemonSetList"]]
    metadata: Required[meta_v1.ListMeta]


class DaemonSetSpec(TypedDict, total=False):
    """Type of `DaemonSet.spec`."""

    minReadySeconds: int
    revisionHistoryLimit: int
    selector: Required[meta_v1.LabelSelector]
    template: Required[core_v1.PodTemplateSpec]
    updateStrategy: DaemonSetUpdateStrategy


class DaemonSetStatus(TypedDict, total=False):
    """Type of `DaemonSet.status`."""

    collisionCount: int
    conditions: list[DaemonSetCondition]
    currentNumberScheduled: Required[int]
    desiredNumberScheduled: Required[int]
    numberAvailable: int
    numberMisscheduled: Required[int]
    numberReady: Required[int]
    numberUnavailable: int
    observedGeneration: int
    updatedNumberScheduled: int


class DaemonSetUpdateStrategy(TypedDict, total=False):
    """Type of `DaemonSetSpec.updateStrategy`."""

    rollingUpdate: RollingUpdateDaemonSet
    type: str


class Deployment(TypedDict, total=False):
    """Object of the resource `deployments` in a namespace."""

    apiVersion: Required[Literal["apps/v1"]]
    kind: Required[Literal["Deployment"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[DeploymentSpec]
    status: DeploymentStatus


class DeploymentCondition(TypedDict, total=False):
    """Type of `DeploymentStatus.conditions`."""

    lastTransitionTime: meta_v1.Time
    lastUpdateTime: meta_v1.Time
    message: str
    reason: str
    status: Required[str]
    type: Required[str]


class DeploymentList(TypedDict, total=False):
    """Response with a list of `Deployment`."""

    apiVersion: Required[Literal["apps/v1"]]
    items: Required[list[Deployment]]
    kind: Required[Literal["DeploymentList"]]
    metadata: Required[meta_v1.ListMeta]


class DeploymentSpec(TypedDict, total=False):
    """Type of `Deployment.spec`."""

    minReadySeconds: int
    paused: bool
    progressDeadlineSeconds: int
    replicas: int
    revisionHistoryLimit: int
    selector: Required[meta_v1.LabelSelector]
    strategy: DeploymentStrategy
    template: Required[core_v1.PodTemplateSpec]


class DeploymentStatus(TypedDict, total=False):
    """Type of `Deployment.status`."""

    availableReplicas: int
    collisionCount: int
    conditions: list[DeploymentCondition]
    observedGeneration: int
    readyReplicas: int
    replicas: int
    terminatingReplicas: int
    unavailableReplicas: int
    updatedReplicas: int


class DeploymentStrategy(TypedDict, total=False):
    """Type of `DeploymentSpec.strategy`."""

    rollingUpdate: RollingUpdateDeployment
    type: str


class ReplicaSet(TypedDict, total=False):
    """Object of the resource `replicasets` in a namespace."""

    apiVersion: Required[Literal["apps/v1"]]
    kind: Required[Literal["ReplicaSet"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[ReplicaSetSpec]
    status: ReplicaSetStatus


class ReplicaSetCondition(TypedDict, total=False):
    """Type of `ReplicaSetStatus.conditions`."""

    lastTransitionTime: meta_v1.Time
    message: str
    reason: str
    status: Required[str]
    type: Required[str]


class ReplicaSetList(TypedDict, total=False):
    """Response with a list of `ReplicaSet`."""

    apiVersion: Required[Literal["apps/v1"]]
    items: Required[list[ReplicaSet]]
    kind: Required[Literal["ReplicaSetList"]]
    metadata: Required[meta_v1.ListMeta]


class ReplicaSetSpec(TypedDict, total=False):
    """Type of `ReplicaSet.spec`."""

    minReadySeconds: int
    replicas: int
    selector: Required[meta_v1.LabelSelector]
    template: Required[core_v1.PodTemplateSpec]


class ReplicaSetStatus(TypedDict, total=False):
    """Type of `ReplicaSet.status`."""

    availableReplicas: int
    conditions: list[ReplicaSetCondition]
    fullyLabeledReplicas: int
    observedGeneration: int
    readyReplicas: int
    replicas: Required[int]
    terminatingReplicas: int


class RollingUpdateDaemonSet(TypedDict, total=False):
    """Type of `DaemonSetUpdateStrategy.rollingUpdate`."""

    maxSurge: meta_v1.IntOrString
    maxUnavailable: meta_v1.IntOrString


class RollingUpdateDeployment(TypedDict, total=False):
    """Type of `DeploymentStrategy.rollingUpdate`."""

    maxSurge: meta_v1.IntOrString
    maxUnavailable: meta_v1.IntOrString


class RollingUpdateStatefulSetStrategy(TypedDict, total=False):
    """Type of `StatefulSetUpdateStrategy.rollingUpdate`."""

    maxUnavailable: meta_v1.IntOrString
    partition: int


class StatefulSet(TypedDict, total=False):
    """Object of the resource `statefulsets` in a namespace."""

    apiVersion: Required[Literal["apps/v1"]]
    kind: Required[Literal["StatefulSet"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[StatefulSetSpec]
    status: StatefulSetStatus


class StatefulSetCondition(TypedDict, total=False):
    """Type of `StatefulSetStatus.conditions`."""

    lastTransitionTime: meta_v1.Time
    message: str
    reason: str
    status: Required[str]
    type: Required[str]


class StatefulSetList(TypedDict, total=False):
    """Response with a list of `StatefulSet`."""

    apiVersion: Required[Literal["apps/v1"]]
    items: Required[list[StatefulSet]]
    kind: Required[Literal["StatefulSetList"]]
    metadata: Required[meta_v1.ListMeta]


class StatefulSetOrdinals(TypedDict, total=False):
    """Type of `StatefulSetSpec.ordinals`."""

    start: int


class StatefulSetPersistentVolumeClaimRetentionPolicy(TypedDict, total=False):
    """Type of `StatefulSetSpec.persistentVolumeClaimRetentionPolicy`."""

    whenDeleted: str
    whenScaled: str


class StatefulSetSpec(TypedDict, total=False):
    """Type of `StatefulSet.spec`."""

    minReadySeconds: int
    ordinals: StatefulSetOrdinals
    persistentVolumeClaimRetentionPolicy: StatefulSetPersistentVolumeClaimRetentionPolicy
    podManagementPolicy: str
    replicas: int
    revisionHistoryLimit: int
    selector: Required[meta_v1.LabelSelector]
    serviceName: str
    template: Required[core_v1.PodTemplateSpec]
    updateStrategy: StatefulSetUpdateStrategy
    volumeClaimTemplates: list[core_v1.PersistentVolumeClaim]


class StatefulSetStatus(TypedDict, total=False):
    """Type of `StatefulSet.status`."""

    availableReplicas: int
    collisionCount: int
    conditions: list[StatefulSetCondition]
    currentReplicas: int
    currentRevision: str
    observedGeneration: int
    readyReplicas: int
    replicas: Required[int]
    updateRevision: str
    updatedReplicas: int


class StatefulSetUpdateStrategy(TypedDict, total=False):
    """Type of `StatefulSetSpec.updateStrategy`."""

    rollingUpdate: RollingUpdateStatefulSetStrategy
    type: str


GROUP_VERSION: Final = GroupVersion("apps", "v1")

RESOURCES: Final = {
    "ControllerRevision": ("controllerrevisions", True),
    "DaemonSet": ("daemonsets", True),
    "Deployment": ("deployments", True),
    "ReplicaSet": ("replicasets", True),
    "StatefulSet": ("statefulsets", True),
}
"""Resources by their kinds, and True if they are in namespaces."""
