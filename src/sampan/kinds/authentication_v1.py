"""Types of authentication/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class BoundObjectReference(TypedDict, total=False):
    """Type of `TokenRequestSpec.boundObjectRef`."""

    apiVersion: str
    kind: str
    name: str
    uid: str


class SelfSubjectReview(TypedDict, total=False):
    """Object of the resource `selfsubjectreviews`."""

    apiVersion: Required[Literal["authentication.k8s.io/v1"]]
    kind: Required[Literal["SelfSubjectReview"]]
    metadata: Required[meta_v1.ObjectMeta]
    status: SelfSubjectReviewStatus


class SelfSubjectReviewStatus(TypedDict, total=False):
    """Type of `SelfSubjectReview.status`."""

    userInfo: UserInfo


class TokenRequest(TypedDict, total=False):
    """Body of requests or responses."""

    apiVersion: Required[Literal["authentication.k8s.io/v1"]]
    kind: Required[Literal["TokenRequest"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: TokenRequestSpec
    status: TokenRequestStatus


class TokenRequestSpec(TypedDict, total=False):
    """Type of `TokenRequest.spec`."""

    audiences: list[str]
    boundObjectRef: BoundObjectReference
    expirationSeconds: int


class TokenRequestStatus(TypedDict, total=False):
    """Type of `TokenRequest.status`."""

    expirationTimestamp: meta_v1.Time
    token: str


class TokenReview(TypedDict, total=False):
    """Object of the resource `tokenreviews`."""

    apiVersion: Required[Literal["authentication.k8s.io/v1"]]
    kind: Required[Literal["TokenReview"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[TokenReviewSpec]
    status: TokenReviewStatus


class TokenReviewSpec(TypedDict, total=False):
    """Type of `TokenReview.spec`."""

    audiences: list[str]
    token: Required[str]


class TokenReviewStatus(TypedDict, total=False):
    """Type of `TokenReview.status`."""

    audiences: list[str]
    authenticated: bool
    error: str
    user: UserInfo


class UserInfo(TypedDict, total=False):
    """Type of `SelfSubjectReviewStatus.userInfo`, `TokenReviewStatus.user`."""

    extra: dict[str, list[str]]
    groups: list[str]
    uid: str
    username: str


GROUP_VERSION: Final = GroupVersion("authentication.k8s.io", "v1")

RESOURCES: Final = {
    "SelfSubjectReview": ("selfsubjectreviews", False),
    "TokenReview": ("tokenreviews", False),
}
"""Resources by their kinds, and True if they are in namespaces."""
