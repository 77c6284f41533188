"""Plug-ins for certificates: rights to approve, sign and attest for a signer, and forbidden subjects.

Source: kubernetes plugin/pkg/admission/certificates/, pkg/apis/certificates (1.36).
"""

from typing import ClassVar, Final

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.core.tls.certificates import requested_subject
from sampan.server.admission.chain import Attributes
from sampan.server.admission.refusal import refusal
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.request import RequestInfo, UserInfo

_GROUP: Final = "certificates.k8s.io"
_REQUESTS: Final = frozenset({(_GROUP, "certificatesigningrequests")})
_CLIENT_SIGNER: Final = "kubernetes.io/kube-apiserver-client"
_MASTERS: Final = "system:masters"
_GC_FIELDS: Final = frozenset({"ownerReferences", "finalizers", "managedFields", "resourceVersion"})


class CertificateApproval:
    """Requires the verb approve on the signer for an approval."""

    name: ClassVar[str] = "CertificateApproval"
    operations: ClassVar[frozenset[str]] = frozenset({"UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = _REQUESTS

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def validate(self, attributes: Attributes) -> None:
        """Authorize an approval. **Raises** 403."""
        if attributes.subresource != "approval" or attributes.old is None:
            return
        signer = _signer(attributes.old)
        if not await _may(self._authorizer, attributes.user, "approve", signer):
            raise refusal(attributes, f"user not permitted to approve requests with signerName {quote(signer)}")


class CertificateSigning:
    """Requires the verb sign on the signer to set the certificate or conditions."""

    name: ClassVar[str] = "CertificateSigning"
    operations: ClassVar[frozenset[str]] = frozenset({"UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = _REQUESTS

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def validate(self, attributes: Attributes) -> None:
        """Authorize a signature. **Raises** 403."""
        obj, old = attributes.obj, attributes.old
        if attributes.subresource != "status" or obj is None or old is None:
            return
        status, before = obj.get("status") or {}, old.get("status") or {}
        if all((status.get(field) or None) == (before.get(field) or None) for field in ("certificate", "conditions")):
            return
        signer = _signer(old)
        if not await _may(self._authorizer, attributes.user, "sign", signer):
            raise refusal(attributes, f"user not permitted to sign requests with signerName {quote(signer)}")


class CertificateSubjectRestriction:
    """Refuses requests for client certificates of the group `system:masters`."""

    name: ClassVar[str] = "CertificateSubjectRestriction"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = _REQUESTS

    async def validate(self, attributes: Attributes) -> None:
        """Check the subject. **Raises** 403."""
        if attributes.subresource or attributes.obj is None or _signer(attributes.obj) != _CLIENT_SIGNER:
            return
        try:
            subject = requested_subject(attributes.obj["spec"].get("request", ""))
        except ValueError as error:
            raise refusal(attributes, f"failed to parse CSR: {error}") from None
        if _MASTERS in subject.organizations:
            raise refusal(attributes, f"use of {_CLIENT_SIGNER} signer with {_MASTERS} group is not allowed")


class ClusterTrustBundleAttest:
    """Requires the verb attest on the signer to write its trust bundle."""

    name: ClassVar[str] = "ClusterTrustBundleAttest"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = frozenset({(_GROUP, "clustertrustbundles")})

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def validate(self, attributes: Attributes) -> None:
        """Authorize the write. **Raises** 403."""
        bundle, old = attributes.obj, attributes.old
        signer = "" if bundle is None else _signer(bundle)
        if bundle is None or not signer or (old is not None and _without_gc_fields(bundle) == _without_gc_fields(old)):
            return
        if not await _may(self._authorizer, attributes.user, "attest", signer):
            raise refusal(attributes, f"user not permitted to attest for signerName {quote(signer)}")


def _signer(obj: Object) -> str:
    return (obj.get("spec") or {}).get("signerName") or ""


def _without_gc_fields(obj: Object) -> Object:
    metadata = {name: value for name, value in obj["metadata"].items() if name not in _GC_FIELDS}
    return {**obj, "metadata": metadata}


async def _may(authorizer: Authorizer, user: UserInfo | None, verb: str, signer: str) -> bool:
    """Return True if the user is allowed the verb on the signer, or on all signers of its domain."""
    assert user is not None
    for name in (signer, f"{signer.partition('/')[0]}/*"):
        info = RequestInfo(
            "",
            verb,
            is_resource=True,
            group=_GROUP,
            version="*",
            resource="signers",
            name=name,
            parts=("signers", name),
        )
        verdict = await authorizer.authorize(user, info)
        if verdict.decision is Decision.ALLOW:
            return True
    return False
