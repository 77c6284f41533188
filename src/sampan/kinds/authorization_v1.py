"""Types of authorization/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class FieldSelectorAttributes(TypedDict, total=False):
    """Type of `ResourceAttributes.fieldSelector`."""

    rawSelector: str
    requirements: list[meta_v1.FieldSelectorRequirement]


class LabelSelectorAttributes(TypedDict, total=False):
    """Type of `ResourceAttributes.labelSelector`."""

    rawSelector: str
    requirements: list[meta_v1.LabelSelectorRequirement]


class LocalSubjectAccessReview(TypedDict, total=False):
    """Object of the resource `localsubjectaccessreviews` in a namespace."""

    apiVersion: Required[Literal["authorization.k8s.io/v1"]]
    kind: Required[Literal["LocalSubjectAccessReview"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[SubjectAccessReviewSpec]
    status: SubjectAccessReviewStatus


class NonResourceAttributes(TypedDict, total=False):
    """Type of `SelfSubjectAccessReviewSpec.nonResourceAttributes`, `SubjectAccessReviewSpec.nonResourceAttributes`."""

    path: str
    verb: str


class NonResourceRule(TypedDict, total=False):
    """Type of `SubjectRulesReviewStatus.nonResourceRules`."""

    nonResourceURLs: list[str]
    verbs: Required[list[str]]


class ResourceAttributes(TypedDict, total=False):
    """Type of `SelfSubjectAccessReviewSpec.resourceAttributes`, `SubjectAccessReviewSpec.resourceAttributes`."""

    fieldSelector: FieldSelectorAttributes
    group: str
    labelSelector: LabelSelectorAttributes
    name: str
    namespace: str
    resource: str
    subresource: str
    verb: str
    version: str


class ResourceRule(TypedDict, total=False):
    """Type of `SubjectRulesReviewStatus.resourceRules`."""

    apiGroups: list[str]
    resourceNames: list[str]
    resources: list[str]
    verbs: Required[list[str]]


class SelfSubjectAccessReview(TypedDict, total=False):
    """Object of the resource `selfsubjectaccessreviews`."""

    apiVersion: Required[Literal["authorization.k8s.io/v1"]]
    kind: Required[Literal["SelfSubjectAccessReview"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[SelfSubjectAccessReviewSpec]
    status: SubjectAccessReviewStatus


class SelfSubjectAccessReviewSpec(TypedDict, total=False):
    """Type of `SelfSubjectAccessReview.spec`."""

    nonResourceAttributes: NonResourceAttributes
    resourceAttributes: ResourceAttributes


class SelfSubjectRulesReview(TypedDict, total=False):
    """Object of the resource `selfsubjectrulesreviews`."""

    apiVersion: Required[Literal["authorization.k8s.io/v1"]]
    kind: Required[Literal["SelfSubjectRulesReview"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[SelfSubjectRulesReviewSpec]
    status: SubjectRulesReviewStatus


class SelfSubjectRulesReviewSpec(TypedDict, total=False):
    """Type of `SelfSubjectRulesReview.spec`."""

    namespace: str


class SubjectAccessReview(TypedDict, total=False):
    """Object of the resource `subjectaccessreviews`."""

    apiVersion: Required[Literal["authorization.k8s.io/v1"]]
    kind: Required[Literal["SubjectAccessReview"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[SubjectAccessReviewSpec]
    status: SubjectAccessReviewStatus


class SubjectAccessReviewSpec(TypedDict, total=False):
    """Type of `LocalSubjectAccessReview.spec`, `SubjectAccessReview.spec`."""

    extra: dict[str, list[str]]
    groups: list[str]
    nonResourceAttributes: NonResourceAttributes
    resourceAttributes: ResourceAttributes
    uid: str
    user: str


class SubjectAccessReviewStatus(TypedDict, total=False):
    """Type of `LocalSubjectAccessReview.status`, `SelfSubjectAccessReview.status` and more fields."""

    allowed: Required[bool]
    denied: bool
    evaluationError: str
    reason: str


class SubjectRulesReviewStatus(TypedDict, total=False):
    """Type of `SelfSubjectRulesReview.status`."""

    evaluationError: str
    incomplete: Required[bool]
    nonResourceRules: Required[list[NonResourceRule]]
    resourceRules: Required[list[ResourceRule]]


GROUP_VERSION: Final = GroupVersion("authorization.k8s.io", "v1")

RESOURCES: Final = {
    "LocalSubjectAccessReview": ("localsubjectaccessreviews", True),
    "SelfSubjectAccessReview": ("selfsubjectaccessreviews", False),
    "SelfSubjectRulesReview": ("selfsubjectrulesreviews", False),
    "SubjectAccessReview": ("subjectaccessreviews", False),
}
"""Resources by their kinds, and True if they are in namespaces."""
