"""Types of flowcontrol/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class ExemptPriorityLevelConfiguration(TypedDict, total=False):
    """Type of `PriorityLevelConfigurationSpec.exempt`."""

    lendablePercent: int
    nominalConcurrencyShares: int


class FlowDistinguisherMethod(TypedDict, total=False):
    """Type of `FlowSchemaSpec.distinguisherMethod`."""

    type: Required[str]


class FlowSchema(TypedDict, total=False):
    """Object of the resource `flowschemas`."""

    apiVersion: Required[Literal["flowcontrol.apiserver.k8s.io/v1"]]
    kind: Required[Literal["FlowSchema"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[FlowSchemaSpec]
    status: FlowSchemaStatus


class FlowSchemaCondition(TypedDict, total=False):
    """Type of `FlowSchemaStatus.conditions`."""

    lastTransitionTime: meta_v1.Time
    message: str
    reason: str
    status: str
    type: str


class FlowSchemaList(TypedDict, total=False):
    """Response with a list of `FlowSchema`."""

    apiVersion: Required[Literal["flowcontrol.apiserver.k8s.io/v1"]]
    items: Required[list[FlowSchema]]
    kind: Required[Literal["FlowSchemaList"]]
    metadata: Required[meta_v1.ListMeta]


class FlowSchemaSpec(TypedDict, total=False):
    """Type of `FlowSchema.spec`."""

    distinguisherMethod: FlowDistinguisherMethod
    matchingPrecedence: int
    priorityLevelConfiguration: Required[PriorityLevelConfigurationReference]
    rules: list[PolicyRulesWithSubjects]


class FlowSchemaStatus(TypedDict, total=False):
    """Type of `FlowSchema.status`."""

    conditions: list[FlowSchemaCondition]


class GroupSubject(TypedDict, total=False):
    """Type of `Subject.group`."""

    name: Required[str]


class LimitResponse(TypedDict, total=False):
    """Type of `LimitedPriorityLevelConfiguration.limitResponse`."""

    queuing: QueuingConfiguration
    type: Required[str]


class LimitedPriorityLevelConfiguration(TypedDict, total=False):
    """Type of `PriorityLevelConfigurationSpec.limited`."""

    borrowingLimitPercent: int
    lendablePercent: int
    limitResponse: Required[LimitResponse]
    nominalConcurrencyShares: int


class NonResourcePolicyRule(TypedDict, total=False):
    """Type of `PolicyRulesWithSubjects.nonResourceRules`."""

    nonResourceURLs: Required[list[str]]
    verbs: Required[list[str]]


class PolicyRulesWithSubjects(TypedDict, total=False):
    """Type of `FlowSchemaSpec.rules`."""

    nonResourceRules: list[NonResourcePolicyRule]
    resourceRules: list[ResourcePolicyRule]
    subjects: Required[list[Subject]]


class PriorityLevelConfiguration(TypedDict, total=False):
    """Object of the resource `prioritylevelconfigurations`."""

    apiVersion: Required[Literal["flowcontrol.apiserver.k8s.io/v1"]]
    kind: Required[Literal["PriorityLevelConfiguration"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[PriorityLevelConfigurationSpec]
    status: PriorityLevelConfigurationStatus


class PriorityLevelConfigurationCondition(TypedDict, total=False):
    """Type of `PriorityLevelConfigurationStatus.conditions`."""

    lastTransitionTime: meta_v1.Time
    message: str
    reason: str
    status: str
    type: str


class PriorityLevelConfigurationList(TypedDict, total=False):
    """Response with a list of `PriorityLevelConfiguration`."""

    apiVersion: Required[Literal["flowcontrol.apiserver.k8s.io/v1"]]
    items: Required[list[PriorityLevelConfiguration]]
    kind: Required[Literal["PriorityLevelConfigurationList"]]
    metadata: Required[meta_v1.ListMeta]


class PriorityLevelConfigurationReference(TypedDict, total=False):
    """Type of `FlowSchemaSpec.priorityLevelConfiguration`."""

    name: Required[str]


class PriorityLevelConfigurationSpec(TypedDict, total=False):
    """Type of `PriorityLevelConfiguration.spec`."""

    exempt: ExemptPriorityLevelConfiguration
    limited: LimitedPriorityLevelConfiguration
    type: Required[str]


class PriorityLevelConfigurationStatus(TypedDict, total=False):
    """Type of `PriorityLevelConfiguration.status`."""

    conditions: list[PriorityLevelConfigurationCondition]


class QueuingConfiguration(TypedDict, total=False):
    """Type of `LimitResponse.queuing`."""

    handSize: int
    queueLengthLimit: int
    queues: int


class ResourcePolicyRule(TypedDict, total=False):
    """Type of `PolicyRulesWithSubjects.resourceRules`."""

    apiGroups: Required[list[str]]
    clusterScope: bool
    namespaces: list[str]
    resources: Required[list[str]]
    verbs: Required[list[str]]


class ServiceAccountSubject(TypedDict, total=False):
    """Type of `Subject.serviceAccount`."""

    name: Required[str]
    namespace: Required[str]


class Subject(TypedDict, total=False):
    """Type of `PolicyRulesWithSubjects.subjects`."""

    group: GroupSubject
    kind: Required[str]
    serviceAccount: ServiceAccountSubject
    user: UserSubject


class UserSubject(TypedDict, total=False):
    """Type of `Subject.user`."""

    name: Required[str]


GROUP_VERSION: Final = GroupVersion("flowcontrol.apiserver.k8s.io", "v1")

RESOURCES: Final = {
    "FlowSchema": ("flowschemas", False),
    "PriorityLevelConfiguration": ("prioritylevelconfigurations", False),
}
"""Resources by their kinds, and True if they are in namespaces."""
