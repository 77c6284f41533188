"""Certificate signing requests. Source: pkg/registry/certificates, pkg/apis/certificates/validation (1.36)."""

import base64
import binascii
from typing import Any, Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1

from sampan.core.clock import utc_now
from sampan.core.field import Path, duplicate, forbidden, invalid, quote, required
from sampan.core.object import Object
from sampan.core.time import format_time, human_duration
from sampan.registry.columns.cells import EMPTY, NAME, NONE, at, column
from sampan.registry.kind import Kind
from sampan.registry.old_versions.signing_request import signing_request
from sampan.registry.rules.fields import Errors, check_immutable, difference, not_supported
from sampan.registry.rules.signers import check_signer_name
from sampan.registry.strategy import Context, Strategy

_SPEC = Path("spec")
_CONDITIONS = Path("status", "conditions")
_CERTIFICATE = Path("status", "certificate")
_LEGACY_SIGNER = "kubernetes.io/legacy-unknown"
_EXPIRATION_S_MIN = 600
_APPROVALS = ("Approved", "Denied")
_FINAL = ("Approved", "Denied", "Failed")
_USAGES = (
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
)


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error:
        return b""


def _is_signed(request: x509.CertificateSigningRequest) -> bool:
    """Return True if the request is signed with its key.

    SHA-1 signatures are accepted too: they are strong enough to prove possession of the key.

    Source: Go's crypto/x509 `CertificateRequest.CheckSignature`.
    """
    if request.is_signature_valid:
        return True
    key, algorithm = request.public_key(), request.signature_hash_algorithm
    if not isinstance(algorithm, SHA1):
        return False
    try:
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(request.signature, request.tbs_certrequest_bytes, padding.PKCS1v15(), algorithm)
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(request.signature, request.tbs_certrequest_bytes, ec.ECDSA(algorithm))
        else:
            return False
    except InvalidSignature:
        return False
    return True


def _request_problem(text: str) -> str:
    """Return the problem of a certificate request (malformed, or not signed with its key), or an empty string."""
    pem = _decode(text)
    if b"-----BEGIN CERTIFICATE REQUEST-----" not in pem:
        return "PEM block type must be CERTIFICATE REQUEST"
    try:
        request = x509.load_pem_x509_csr(pem)
        return "" if _is_signed(request) else "x509: certificate request signature is invalid"
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        return str(error) or "malformed certificate request"


def _certificate_problem(text: str) -> str:
    pem = _decode(text)
    for line in pem.splitlines():
        if line.startswith(b"-----BEGIN ") and line != b"-----BEGIN CERTIFICATE-----":
            kind = line[11:].rstrip(b"-").decode(errors="replace")
            return f"only CERTIFICATE PEM blocks are allowed, found {quote(kind)}"
    if b"-----BEGIN CERTIFICATE-----" not in pem:
        return "must contain at least one CERTIFICATE PEM block"
    try:
        x509.load_pem_x509_certificates(pem)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        return str(error) or "malformed certificate"
    return ""


def _conditions(request: Object) -> list[Object]:
    conditions: list[Object] = request.get("status", {}).get("conditions") or []
    return conditions


def _types(request: Object) -> list[str]:
    return [condition.get("type", "") for condition in _conditions(request)]


def _check_usages(usages: list[str], old: Object | None, errors: Errors) -> None:
    before: list[str] = [] if old is None else old.get("spec", {}).get("usages") or []
    unknown_allowed = any(usage not in _USAGES for usage in before)
    twice_allowed = len(set(before)) < len(before)
    path = _SPEC.child("usages")
    if not usages:
        errors.append(required(path))
    if not unknown_allowed:
        errors.extend(
            not_supported(path.index(i), usage, _USAGES) for i, usage in enumerate(usages) if usage not in _USAGES
        )
    if not twice_allowed:
        errors.extend(duplicate(path.index(i), usage) for i, usage in enumerate(usages) if usage in usages[:i])


def _check_conditions(request: Object, old: Object | None, errors: Errors) -> None:
    before = [] if old is None else _types(old)
    both_allowed = all(kind in before for kind in _APPROVALS)
    twice_allowed, empty_allowed = len(set(before)) < len(before), "" in before
    seen: set[str] = set()
    for index, condition in enumerate(_conditions(request)):
        path, kind, status = _CONDITIONS.index(index), condition.get("type", ""), condition.get("status", "")
        if not kind and not empty_allowed:
            errors.append(required(path.child("type")))
        allowed = ("True",) if kind in _FINAL else ("False", "True", "Unknown")
        if not status:
            errors.append(required(path.child("status")))
        elif status not in allowed:
            errors.append(not_supported(path.child("status"), status, allowed))
        if kind in _APPROVALS and not both_allowed and seen & (set(_APPROVALS) - {kind}):
            errors.append(invalid(_CONDITIONS, kind, "Approved and Denied conditions are mutually exclusive"))
        if kind in seen and not twice_allowed:
            errors.append(duplicate(path.child("type"), kind))
        seen.add(kind)


def _check_certificate(request: Object, old: Object | None, errors: Errors) -> None:
    text = request.get("status", {}).get("certificate", "")
    before = "" if old is None else old.get("status", {}).get("certificate", "")
    if not text or text == before or (before and _certificate_problem(before)):
        return
    problem = _certificate_problem(text)
    if problem:
        errors.append(invalid(_CERTIFICATE, "<certificate data>", problem))


def check_request(request: Object, old: Object | None, errors: Errors) -> None:
    """Check a request. Faults that the stored request `old` has are tolerated."""
    spec = request.get("spec", {})
    text, signer = spec.get("request", ""), spec.get("signerName", "")
    problem = _request_problem(text)
    if problem:
        errors.append(invalid(_SPEC.child("request"), spec.get("request"), problem))
    _check_usages(spec.get("usages") or [], old, errors)
    was_legacy = old is not None and old.get("spec", {}).get("signerName") == _LEGACY_SIGNER
    if signer == _LEGACY_SIGNER and not was_legacy:
        detail = "the legacy signerName is not allowed via this API version"
        errors.append(invalid(_SPEC.child("signerName"), signer, detail))
    else:
        check_signer_name(signer, _SPEC.child("signerName"), errors)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _EXPIRATION_S_MIN:
        detail = "may not specify a duration less than 600 seconds (10 minutes)"
        errors.append(invalid(_SPEC.child("expirationSeconds"), seconds, detail))
    _check_conditions(request, old, errors)
    _check_certificate(request, old, errors)


def _of_type(request: Object, kind: str) -> list[Object]:
    return [condition for condition in _conditions(request) if condition.get("type") == kind]


def check_update(request: Object, old: Object, errors: Errors, *, approval: bool, certificate: bool) -> None:
    """Check an update: it must not remove a final condition.

    `approval` permits a change of approvals, `certificate` permits setting a certificate.
    """
    for kind in _FINAL:
        if len(_of_type(request, kind)) < len(_of_type(old, kind)):
            errors.append(forbidden(_CONDITIONS, f"updates may not remove a condition of type {quote(kind)}"))
    for kind in () if approval else _APPROVALS:
        now, before = _of_type(request, kind), _of_type(old, kind)
        if len(now) > len(before):
            errors.append(forbidden(_CONDITIONS, f"updates may not add a condition of type {quote(kind)}"))
        elif len(now) == len(before) and now != before:
            changes = difference(before, now)
            detail = f"updates may not modify a condition of type {quote(kind)}\n{changes}"
            errors.append(forbidden(_CONDITIONS, detail))
    now_issued = request.get("status", {}).get("certificate", "")
    issued = old.get("status", {}).get("certificate", "")
    if now_issued != issued:
        if not certificate:
            errors.append(forbidden(_CERTIFICATE, "updates may not set certificate content"))
        elif issued:
            errors.append(forbidden(_CERTIFICATE, "updates may not modify existing certificate content"))


def fill_condition_times(request: Object, old: Object) -> None:
    """Set the times that the client omitted from the conditions."""
    now = format_time(utc_now())
    for condition in _conditions(request):
        if not condition.get("lastUpdateTime"):
            condition["lastUpdateTime"] = now
        if not condition.get("lastTransitionTime"):
            same = [
                before["lastTransitionTime"]
                for before in _of_type(old, condition.get("type", ""))
                if before.get("status") == condition.get("status") and before.get("lastTransitionTime")
            ]
            condition["lastTransitionTime"] = same[0] if same else now


class CertificateSigningRequestStrategy(Strategy):
    """Strategy of certificate signing requests. The requester is the authenticated user, and the spec is immutable."""

    labels = ("spec.signerName",)
    selects_namespace = False
    has_generation = False

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        """Accept any name."""
        return []

    def prepare_for_create(self, ctx: Context, obj: Object) -> None:
        """Set the requester to the authenticated user."""
        spec = obj.setdefault("spec", {})
        for name in ("username", "uid", "groups", "extra"):
            spec.pop(name, None)
        if ctx.user:
            spec["username"] = ctx.user
        if ctx.uid:
            spec["uid"] = ctx.uid
        if ctx.groups:
            spec["groups"] = list(ctx.groups)
        if ctx.extra:
            spec["extra"] = {name: list(values) for name, values in ctx.extra.items()}

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Restore the stored spec."""
        obj["spec"] = old["spec"]

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        check_request(obj, None, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update. Faults of the stored request are tolerated."""
        check_request(obj, old, errors)
        check_update(obj, old, errors, approval=False, certificate=False)

    def prepare_for_status_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Restore the stored approvals, and set the times of other conditions."""
        for kind in _APPROVALS:
            now, before = _of_type(obj, kind), _of_type(old, kind)
            if len(now) == len(before):
                for condition, stored in zip(now, before, strict=True):
                    condition.clear()
                    condition.update(stored)
        fill_condition_times(obj, old)

    def check_status_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check that a signer sets the certificate only once."""
        check_request(obj, old, errors)
        check_update(obj, old, errors, approval=False, certificate=True)
        check_immutable(obj.get("spec"), old.get("spec"), _SPEC, errors)

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        """Return `spec.signerName`."""
        return {"spec.signerName": obj.get("spec", {}).get("signerName", "")}

    def reset_fields(self, status_served: bool) -> dict[str, dict[str, Any]]:
        """Return the fields without owners: an update cannot change the spec."""
        return {
            "": {"f:spec": {}, "f:status": {}},
            "status": {"f:spec": {}, "f:status": {"f:conditions": {}}},
        }


class ApprovalStrategy(CertificateSigningRequestStrategy):
    """Strategy of `certificatesigningrequests/NAME/approval`, which changes only the conditions of the status."""

    keeps_status_on_update = False

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Restore spec and certificate, and set the times that the client omitted."""
        obj["spec"] = old["spec"]
        status = obj.setdefault("status", {})
        certificate = (old.get("status") or {}).get("certificate")
        if certificate is None:
            status.pop("certificate", None)
        else:
            status["certificate"] = certificate
        fill_condition_times(obj, old)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update of approvals. Only this subresource may add them."""
        check_request(obj, old, errors)
        check_update(obj, old, errors, approval=True, certificate=False)


def _requested_duration(request: Object) -> str:
    seconds = request.get("spec", EMPTY).get("expirationSeconds")
    return NONE if seconds is None else human_duration(seconds)


def _request_condition(request: Object) -> str:
    status = request.get("status", EMPTY)
    kinds = {condition["type"] for condition in status.get("conditions", ())}
    text = "Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"
    if "Failed" in kinds:
        text += ",Failed"
    return f"{text},Issued" if status.get("certificate") else text


KINDS: Final = (
    Kind(
        "certificates.k8s.io",
        "certificatesigningrequests",
        CertificateSigningRequestStrategy(),
        old_versions={"certificates.k8s.io/v1beta1": signing_request},
        columns=lambda ages: (
            NAME,
            ages.column,
            column("SignerName", at("spec", "signerName", default=NONE)),
            column("Requestor", at("spec", "username")),
            column("RequestedDuration", _requested_duration),
            column("Condition", _request_condition),
        ),
        subresources={"approval": ApprovalStrategy()},
    ),
)
