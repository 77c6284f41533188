"""Types of admissionregistration/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class ApplyConfiguration(TypedDict, total=False):
    """Type of `Mutation.applyConfiguration`."""

    expression: str


class AuditAnnotation(TypedDict, total=False):
    """Type of `ValidatingAdmissionPolicySpec.auditAnnotations`."""

    key: Required[str]
    valueExpression: Required[str]


class ExpressionWarning(TypedDict, total=False):
    """Type of `TypeChecking.expressionWarnings`."""

    fieldRef: Required[str]
    warning: Required[str]


class JSONPatch(TypedDict, total=False):
    """Type of `Mutation.jsonPatch`."""

    expression: str


class MatchCondition(TypedDict, total=False):
    """Type of `MutatingAdmissionPolicySpec.matchConditions`, `MutatingWebhook.matchConditions` and more fields."""

    expression: Required[str]
    name: Required[str]


class MatchResources(TypedDict, total=False):
    """Type of `MutatingAdmissionPolicyBindingSpec.matchResources` and more fields."""

    excludeResourceRules: list[NamedRuleWithOperations]
    matchPolicy: str
    namespaceSelector: meta_v1.LabelSelector
    objectSelector: meta_v1.LabelSelector
    resourceRules: list[NamedRuleWithOperations]


class MutatingAdmissionPolicy(TypedDict, total=False):
    """Object of the resource `mutatingadmissionpolicies`."""

    apiVersion: Required[Literal["admissionregistration.k8s.io/v1"]]
    kind: Required[Literal["MutatingAdmissionPolicy"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: MutatingAdmissionPolicySpec


class MutatingAdmissionPolicyBinding(TypedDict, total=False):
    """Object of the resource `mutatingadmissionpolicybindings`."""

    apiVersion: Required[Literal["admissionregistration.k8s.io/v1"]]
    kind: Required[Literal["MutatingAdmissionPolicyBinding"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: MutatingAdmissionPolicyBindingSpec


class MutatingAdmissionPolicyBindingList(TypedDict, total=False):
    """Response with a list of `MutatingAdmissionPolicyBinding`."""

    apiVersion: Required[Literal["admissionregistration.k8s.io/v1"]]
    items: Required[list[MutatingAdmissionPolicyBinding]]
    kind: Required[Literal["MutatingAdmissionPolicyBindingList"]]
    metadata: Required[meta_v1.ListMeta]


class MutatingAdmissionPolicyBindingSpec(TypedDict, total=False):
    """Type of `MutatingAdmissionPolicyBinding.spec`."""

    matchResources: MatchResources
    paramRef: ParamRef
    policyName: str


class MutatingAdmissionPolicyList(TypedDict, total=False):
    """Response with a list of `MutatingAdmissionPolicy`."""

    apiVersion: Required[Literal["admissionregistration.k8s.io/v1"]]
    items: Required[list[MutatingAdmissionPolicy]]
    kind: Required[Literal["MutatingAdmissionPolicyList"]]
    metadata: Required[meta_v1.ListMeta]


class MutatingAdmissionPolicySpec(TypedDict, total=False):
    """Type of `MutatingAdmissionPolicy.spec`."""

    failurePolicy: str
    matchConditions: list[MatchCondition]
    matchConstraints: MatchResources
    mutations: list[Mutation]
    paramKind: ParamKind
    reinvocationPolicy: str
    variables: list[Variable]


class MutatingWebhook(TypedDict, total=False):
    """Type of `MutatingWebhookConfiguration.webhooks`."""

    admissionReviewVersions: Required[list[str]]
    clientConfig: Required[WebhookClientConfig]
    failurePolicy: str
    matchConditions: list[MatchCondition]
    matchPolicy: str
    name: Required[str]
    namespaceSelector: meta_v1.LabelSelector
    objectSelector: meta_v1.LabelSelector
    reinvocationPolicy: str
    rules: list[RuleWithOperations]
    sideEffects: Required[str]
    timeoutSeconds: int


class MutatingWebhookConfiguration(TypedDict, total=False):
    """Object of the resource `mutatingwebhookconfigurations`."""

    apiVersion: Required[Literal["admissionregistration.k8s.io/v1"]]
    kind: Required[Literal["MutatingWebhookConfiguration"]]
    metadata: Required[meta_v1.ObjectMeta]
    webhooks: list[MutatingWebhook]


class MutatingWebhookConfigurationList(TypedDict, total=False):
    """Response with a list of `MutatingWebhookConfiguration`."""

    apiVersion: Required[Literal["admissionregistration.k8s.io/v1"]]
    items: Required[list[MutatingWebhookConfiguration]]
    kind: Required[Literal["MutatingWebhookConfigurationList"]]
    metadata: Required[meta_v1.ListMeta]


class Mutation(TypedDict, total=False):
    """Type of `MutatingAdmissionPolicySpec.mutations`."""

    applyConfiguration: ApplyConfiguration
    jsonPatch: JSONPatch
    patchType: Required[str]


class NamedRuleWithOperations(TypedDict, total=False):
    """Type of `MatchResources.excludeResourceRules`, `MatchResources.resourceRules`."""

    apiGroups: list[str]
    apiVersions: list[str]
    operations: list[str]
    resourceNames: list[str]
    resources: list[str]
    scope: str


class ParamKind(TypedDict, total=False):
    """Type of `MutatingAdmissionPolicySpec.paramKind`, `ValidatingAdmissionPolicySpec.paramKind`."""

    apiVersion: str
    kind: str


class ParamRef(TypedDict, total=False):
    """Type of `MutatingAdmissionPolicyBindingSpec.paramRef`, `ValidatingAdmissionPolicyBindingSpec.paramRef`."""

    name: str
    namespace: str
    parameterNotFoundAction: str
    selector: meta_v1.LabelSelector


class RuleWithOperations(TypedDict, total=False):
    """Type of `MutatingWebhook.rules`, `ValidatingWebhook.rules`."""

    apiGroups: list[str]
    apiVersions: list[str]
    operations: list[str]
    resources: list[str]
    scope: str


class ServiceReference(TypedDict, total=False):
    """Type of `WebhookClientConfig.service`."""

    name: Required[str]
    namespace: Required[str]
    path: str
    port: int


class TypeChecking(TypedDict, total=False):
    """Type of `ValidatingAdmissionPolicyStatus.typeChecking`."""

    expressionWarnings: list[ExpressionWarning]


class ValidatingAdmissionPolicy(TypedDict, total=False):
    """Object of the resource `validatingadmissionpolicies`."""

    apiVersion: Required[Literal["admissionregistration.k8s.io/v1"]]
    kind: Required[Literal["ValidatingAdmissionPolicy"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: ValidatingAdmissionPolicySpec
    status: ValidatingAdmissionPolicyStatus


class ValidatingAdmissionPolicyBinding(TypedDict, total=False):
    """Object of the resource `validatingadmissionpolicybindings`."""

    apiVersion: Required[Literal["admissionregistration.k8s.io/v1"]]
    kind: Required[Literal["ValidatingAdmissionPolicyBinding"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[ValidatingAdmissionPolicyBindingSpec]


class ValidatingAdmissionPolicyBindingList(TypedDict, total=False):
    """Response with a list of `ValidatingAdmissionPolicyBinding`."""

    apiVersion: Required[Literal["admissionregistration.k8s.io/v1"]]
    items: Required[list[ValidatingAdmissionPolicyBinding]]
    kind: Required[Literal["ValidatingAdmissionPolicyBindingList"]]
    metadata: Required[meta_v1.ListMeta]


class ValidatingAdmissionPolicyBindingSpec(TypedDict, total=False):
    """Type of `ValidatingAdmissionPolicyBinding.spec`."""

    matchResources: MatchResources
    paramRef: ParamRef
    policyName: Required[str]
    validationActions: Required[list[str]]


class ValidatingAdmissionPolicyList(TypedDict, total=False):
    """Response with a list of `ValidatingAdmissionPolicy`."""

    apiVersion: Required[Literal["admissionregistration.k8s.io/v1"]]
    items: Required[list[ValidatingAdmissionPolicy]]
    kind: Required[Literal["ValidatingAdmissionPolicyList"]]
    metadata: Required[meta_v1.ListMeta]


class ValidatingAdmissionPolicySpec(TypedDict, total=False):
    """Type of `ValidatingAdmissionPolicy.spec`."""

    auditAnnotations: list[AuditAnnotation]
    failurePolicy: str
    matchConditions: list[MatchCondition]
    matchConstraints: MatchResources
    paramKind: ParamKind
    validations: list[Validation]
    variables: list[Variable]


class ValidatingAdmissionPolicyStatus(TypedDict, total=False):
    """Type of `ValidatingAdmissionPolicy.status`."""

    conditions: list[meta_v1.Condition]
    observedGeneration: int
    typeChecking: TypeChecking


class ValidatingWebhook(TypedDict, total=False):
    """Type of `ValidatingWebhookConfiguration.webhooks`."""

    admissionReviewVersions: Required[list[str]]
    clientConfig: Required[WebhookClientConfig]
    failurePolicy: str
    matchConditions: list[MatchCondition]
    matchPolicy: str
    name: Required[str]
    namespaceSelector: meta_v1.LabelSelector
    objectSelector: meta_v1.LabelSelector
    rules: list[RuleWithOperations]
    sideEffects: Required[str]
    timeoutSeconds: int


class ValidatingWebhookConfiguration(TypedDict, total=False):
    """Object of the resource `validatingwebhookconfigurations`."""

    apiVersion: Required[Literal["admissionregistration.k8s.io/v1"]]
    kind: Required[Literal["ValidatingWebhookConfiguration"]]
    metadata: Required[meta_v1.ObjectMeta]
    webhooks: list[ValidatingWebhook]


class ValidatingWebhookConfigurationList(TypedDict, total=False):
    """Response with a list of `ValidatingWebhookConfiguration`."""

    apiVersion: Required[Literal["admissionregistration.k8s.io/v1"]]
    items: Required[list[ValidatingWebhookConfiguration]]
    kind: Required[Literal["ValidatingWebhookConfigurationList"]]
    metadata: Required[meta_v1.ListMeta]


class Validation(TypedDict, total=False):
    """Type of `ValidatingAdmissionPolicySpec.validations`."""

    expression: Required[str]
    message: str
    messageExpression: str
    reason: str


class Variable(TypedDict, total=False):
    """Type of `MutatingAdmissionPolicySpec.variables`, `ValidatingAdmissionPolicySpec.variables`."""

    expression: Required[str]
    name: Required[str]


class WebhookClientConfig(TypedDict, total=False):
    """Type of `MutatingWebhook.clientConfig`, `ValidatingWebhook.clientConfig`."""

    caBundle: str
    service: ServiceReference
    url: str


GROUP_VERSION: Final = GroupVersion("admissionregistration.k8s.io", "v1")

RESOURCES: Final = {
    "MutatingAdmissionPolicy": ("mutatingadmissionpolicies", False),
    "MutatingAdmissionPolicyBinding": ("mutatingadmissionpolicybindings", False),
    "MutatingWebhookConfiguration": ("mutatingwebhookconfigurations", False),
    "ValidatingAdmissionPolicy": ("validatingadmissionpolicies", False),
    "ValidatingAdmissionPolicyBinding": ("validatingadmissionpolicybindings", False),
    "ValidatingWebhookConfiguration": ("validatingwebhookconfigurations", False),
}
"""Resources by their kinds, and True if they are in namespaces."""
