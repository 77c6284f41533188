"""Types of certificates/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class CertificateSigningRequest(TypedDict, total=False):
    """Object of the resource `certificatesigningrequests`."""

    apiVersion: Required[Literal["certificates.k8s.io/v1"]]
    kind: Required[Literal["CertificateSigningRequest"]]
    metadata: Required[meta_v1.ObjectMeta]
    spec: Required[CertificateSigningRequestSpec]
    status: CertificateSigningRequestStatus


class CertificateSigningRequestCondition(TypedDict, total=False):
    """Type of `CertificateSigningRequestStatus.conditions`."""

    lastTransitionTime: meta_v1.Time
    lastUpdateTime: meta_v1.Time
    message: str
    reason: str
    status: Required[str]
    type: Required[str]


class CertificateSigningRequestList(TypedDict, total=False):
    """Response with a list of `CertificateSigningRequest`."""

    apiVersion: Required[Literal["certificates.k8s.io/v1"]]
    items: Required[list[CertificateSigningRequest]]
    kind: Required[Literal["CertificateSigningRequestList"]]
    metadata: Required[meta_v1.ListMeta]


class CertificateSigningRequestSpec(TypedDict, total=False):
    """Type of `CertificateSigningRequest.spec`."""

    expirationSeconds: int
    extra: dict[str, list[str]]
    groups: list[str]
    request: Required[str]
    signerName: Required[str]
    uid: str
    usages: list[str]
    username: str


class CertificateSigningRequestStatus(TypedDict, total=False):
    """Type of `CertificateSigningRequest.status`."""

    certificate: str
    conditions: list[CertificateSigningRequestCondition]


GROUP_VERSION: Final = GroupVersion("certificates.k8s.io", "v1")

RESOURCES: Final = {
    "CertificateSigningRequest": ("certificatesigningrequests", False),
}
"""Resources by their kinds, and True if they are in namespaces."""
