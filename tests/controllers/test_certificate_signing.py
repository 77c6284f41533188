"""CertificateSigningRequests: approval, signing, failure, removal."""

import asyncio
import base64
import datetime as dt
from collections.abc import Sequence
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CERTIFICATE_SIGNING_REQUESTS
from sampan.controllers import certificate_signing
from sampan.controllers.certificate_signing.approval import Approval
from sampan.controllers.certificate_signing.approving import kinds_of
from sampan.controllers.certificate_signing.cleaner import ends_at
from sampan.controllers.certificate_signing.issue import issue, lifetime
from sampan.controllers.certificate_signing.rules import (
    API_CLIENT,
    KUBELET_CLIENT,
    KUBELET_SERVING,
    LEGACY_UNKNOWN,
    fault,
    request_of,
)
from sampan.controllers.status import find_status_condition
from sampan.core.time import format_time
from sampan.core.tls.certificates import make_authority, signed_by
from tests.controllers.clock import SetClock
from tests.controllers.cluster import cluster

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
CLIENT = ["digital signature", "client auth"]
SERVER = ["digital signature", "key encipherment", "server auth"]
KEY = ec.generate_private_key(ec.SECP256R1())
NAMES = [x509.DNSName("n")]


def csr(
    signer: str = KUBELET_CLIENT,
    usages: Sequence[str] = CLIENT,
    *,
    user: str = "system:node:n",
    group: str = "system:nodes",
    names: Sequence[x509.GeneralName] = (),
) -> Any:
    """A certificate request, by default from a kubelet."""
    subject = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group), x509.NameAttribute(NameOID.COMMON_NAME, user)]
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    pem = builder.sign(KEY, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    spec = {"request": base64.b64encode(pem).decode(), "signerName": signer, "usages": list(usages)}
    return {"metadata": {"name": "r"}, "spec": spec}


@pytest.mark.parametrize(
    ("request_", "part"),
    [
        (csr(), ""),
        (csr(usages=[*CLIENT, "key encipherment"]), ""),
        (csr(usages=SERVER), "usages did not match"),
        (csr(group="other"), "organization is not system:nodes"),
        (csr(user="other"), "common name does not begin"),
        (csr(names=NAMES), "not allowed"),
        (csr(KUBELET_SERVING, SERVER, names=NAMES), ""),
        (csr(KUBELET_SERVING, SERVER), "DNS or IP subjectAltName is required"),
        (csr(KUBELET_SERVING, SERVER, names=[x509.RFC822Name("a@b.c")]), "only DNS and IP"),
        (csr(API_CLIENT, user="anybody"), ""),
        (csr(API_CLIENT, SERVER), "usages did not match"),
        (csr(LEGACY_UNKNOWN, SERVER, user="x"), ""),
    ],
)
def test_signers_refuse_requests_that_break_their_rules(request_: Any, part: str) -> None:
    found = fault(request_, request_of(request_))
    assert part in found
    assert bool(part) is bool(found)


def test_a_certificate_matches_its_request_and_is_not_a_ca() -> None:
    ca = make_authority("ca", NOW, dt.timedelta(days=3650))
    requested = csr(KUBELET_SERVING, SERVER, names=NAMES)
    made = x509.load_pem_x509_certificate(issue(request_of(requested), SERVER, ca, NOW, lifetime(3600)))
    assert signed_by(made, ca.certificate)
    assert made.not_valid_after_utc == NOW + dt.timedelta(hours=1)
    assert made.subject == request_of(requested).subject
    assert list(made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value) == NAMES
    assert not made.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    usage = made.extensions.get_extension_for_class(x509.KeyUsage).value
    assert (usage.digital_signature, usage.key_encipherment, usage.key_cert_sign) == (True, True, False)


@pytest.mark.parametrize(
    ("signer", "usages", "bits"),
    [
        (API_CLIENT, ["client auth"], False),
        (KUBELET_CLIENT, CLIENT, True),
        (KUBELET_SERVING, SERVER, True),
        (LEGACY_UNKNOWN, ["client auth"], False),
        (LEGACY_UNKNOWN, ["server auth", "s/mime", "email protection"], False),
        (LEGACY_UNKNOWN, ["cert sign"], False),
        (LEGACY_UNKNOWN, ["signing"], True),
    ],
)
def test_usages_without_key_usage_bits_leave_the_extension_out(signer: str, usages: list[str], bits: bool) -> None:
    ca = make_authority("ca", NOW, dt.timedelta(days=3650))
    requested = csr(signer, usages, names=NAMES if signer == KUBELET_SERVING else ())
    if signer != LEGACY_UNKNOWN:
        assert fault(requested, request_of(requested)) == ""
    made = x509.load_pem_x509_certificate(issue(request_of(requested), usages, ca, NOW, lifetime(None)))
    found = [each for each in made.extensions if isinstance(each.value, x509.KeyUsage)]
    assert len(found) == bits
    assert all(each.value.public_bytes()[-1] for each in found)


def test_a_certificate_expires_within_a_year_and_before_its_ca() -> None:
    assert lifetime(None) == lifetime(10**9) == dt.timedelta(days=365)
    ca = make_authority("ca", NOW, dt.timedelta(days=1))
    made = x509.load_pem_x509_certificate(issue(request_of(csr()), CLIENT, ca, NOW, lifetime(None)))
    assert made.not_valid_after_utc == ca.certificate.not_valid_after_utc
    with pytest.raises(ValueError, match="expired"):
        issue(request_of(csr()), CLIENT, ca, NOW + dt.timedelta(days=2), lifetime(None))


def test_only_requests_of_kubelets_are_approved_automatically() -> None:
    own = csr()
    own["spec"]["username"] = "system:node:n"
    assert [kind for kind, _ in kinds_of(own)] == ["selfnodeclient", "nodeclient"]
    assert [kind for kind, _ in kinds_of(csr())] == ["nodeclient"]
    assert kinds_of(csr(KUBELET_SERVING, SERVER, names=NAMES)) == []
    assert kinds_of(csr(usages=SERVER)) == []


@pytest.mark.parametrize(
    ("conditions", "certificate", "hours"),
    [
        ([], "", 24),
        (["Denied"], "", 1),
        (["Failed", "Approved"], "", 1),
        (["Approved"], "", 24),
        (["Approved"], "bm90aGluZw==", 1),
    ],
    ids=["pending", "denied", "failed", "not issued", "issued"],
)
def test_finished_and_pending_requests_expire(conditions: list[str], certificate: str, hours: int) -> None:
    dated = [{"type": kind, "status": "True", "lastUpdateTime": format_time(NOW)} for kind in conditions]
    metadata = {"name": "r", "creationTimestamp": format_time(NOW)}
    status = {"conditions": dated, "certificate": certificate}
    request: Any = {"metadata": metadata, "status": status}
    assert ends_at(request) == NOW + dt.timedelta(hours=hours)


CA = make_authority("ca", dt.datetime.now(dt.UTC), dt.timedelta(days=10))


def signing(context: ControllerContext) -> None:
    """Run the signer with a CA."""
    certificate, key = CA.certificate_pem().decode(), CA.key_pem().decode()
    signer = ControllerContext(context.manager, context.clock, signing_certificate=certificate, signing_key=key)
    certificate_signing.set_up_signing(signer)


async def test_a_kubelets_request_is_approved_and_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def may(_: Approval, _csr: Any, kind: str) -> bool:
        return kind == "nodeclient"

    monkeypatch.setattr(Approval, "may", may)
    async with cluster(signing, certificate_signing.set_up_approving) as c:
        await c.create(CERTIFICATE_SIGNING_REQUESTS, csr())
        found = await c.until(CERTIFICATE_SIGNING_REQUESTS, "r", lambda r: r["status"].get("certificate"))
        made = x509.load_pem_x509_certificate(base64.b64decode(found["status"]["certificate"]))
        assert signed_by(made, CA.certificate)
        approved = find_status_condition(found["status"], "Approved")
        assert approved is not None
        assert approved["message"] == "Auto approving kubelet client certificate after SubjectAccessReview."


async def test_a_request_without_authorization_stays_pending(monkeypatch: pytest.MonkeyPatch) -> None:
    requested = asyncio.Event()

    async def may_not(_: Approval, _csr: Any, _kind: str) -> bool:
        requested.set()
        return False

    monkeypatch.setattr(Approval, "may", may_not)
    async with cluster(certificate_signing.set_up_approving) as c:
        await c.create(CERTIFICATE_SIGNING_REQUESTS, csr())
        await asyncio.wait_for(requested.wait(), 60)
        assert "conditions" not in (await c.get(CERTIFICATE_SIGNING_REQUESTS, "r"))["status"]


async def test_an_approved_request_that_breaks_the_rules_fails() -> None:
    async with cluster(signing) as c:
        made = await c.create(CERTIFICATE_SIGNING_REQUESTS, csr(KUBELET_SERVING, SERVER))
        approved = {"type": "Approved", "status": "True", "reason": "r", "message": ""}
        client = c.client.resource(CERTIFICATE_SIGNING_REQUESTS)
        await client.subresource("approval").update("r", {**made, "status": {"conditions": [approved]}})
        found = await c.until(CERTIFICATE_SIGNING_REQUESTS, "r", lambda r: find_status_condition(r["status"], "Failed"))
        failed = find_status_condition(found["status"], "Failed")
        assert failed is not None
        assert (failed["reason"], failed["message"]) == (
            "SignerValidationFailure",
            "DNS or IP subjectAltName is required",
        )


async def test_old_requests_are_deleted() -> None:
    clock = SetClock()
    clock.forward(25 * 3600)
    async with cluster(certificate_signing.set_up_cleaner, clock=clock) as c:
        await c.create(CERTIFICATE_SIGNING_REQUESTS, csr())
        await c.until_gone(CERTIFICATE_SIGNING_REQUESTS, "r")
