"""Error texts for invalid certificates."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sampan.registry.webhook.certificate_texts import mismatch, tls_text
from sampan.registry.webhook.client import WebhookError
from sampan.server.pki.certificates import make_serving
from tests.registry.webhook.test_client import responding, webhook
from tests.registry.webhook.tls import CA, NOW, listening, ok

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
END = datetime(2026, 2, 1, tzinfo=UTC)
MEANWHILE = datetime(2026, 1, 15, tzinfo=UTC)


def certificate(*names: x509.GeneralName, common_name: str = "hook") -> x509.Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), 1, BEGIN, END)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(key, hashes.SHA256())


def dns(*names: str) -> list[x509.GeneralName]:
    return [x509.DNSName(name) for name in names]


@pytest.mark.parametrize(
    ("names", "host", "text"),
    [
        (dns("a.example", "b.example"), "c.example", "certificate is valid for a.example, b.example, not c.example"),
        (dns("a.example"), "A.example", ""),
        (dns("*.example"), "a.example", ""),
        (dns("*.example"), "a.b.example", "certificate is valid for *.example, not a.b.example"),
        ([], "hook", "certificate relies on legacy Common Name field, use SANs instead"),
        ([], "other", "certificate is not valid for any names, but wanted to match other"),
        (
            dns("a.example"),
            "127.0.0.1",
            "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
        ),
        (dns(*[f"n{n}" for n in range(100)]), "x", "certificate is valid for 100 names, but none matched x"),
    ],
    ids=["names", "case", "wildcard", "one label", "common name", "no names", "no addresses", "many names"],
)
def test_the_text_has_the_names_of_the_certificate(names: list[x509.GeneralName], host: str, text: str) -> None:
    assert mismatch(certificate(*names), host, MEANWHILE) == text


@pytest.mark.parametrize(
    ("now", "text"),
    [
        (BEGIN - timedelta(seconds=1), "current time 2025-12-31T23:59:59Z is before 2026-01-01T00:00:00Z"),
        (END + timedelta(seconds=1), "current time 2026-02-01T00:00:01Z is after 2026-02-01T00:00:00Z"),
    ],
    ids=["not yet", "no more"],
)
def test_the_text_has_the_validity_of_the_certificate(now: datetime, text: str) -> None:
    found = mismatch(certificate(*dns("a")), "a", now)
    assert found == f"certificate has expired or is not yet valid: {text}"


def test_a_server_without_tls_is_reported_as_http() -> None:
    error = ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number")
    error.reason = "WRONG_VERSION_NUMBER"
    assert tls_text(error) == "http: server gave HTTP response to HTTPS client"


async def test_the_certificate_must_be_for_the_host(tmp_path: Path) -> None:
    pair = make_serving(CA, ("other.example",), NOW)
    async with listening(tmp_path, responding(ok(b"{}")), pair) as port:
        with pytest.raises(WebhookError) as error:
            await webhook(port).post(b"{}", 30)
    text = "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs"
    assert str(error.value).endswith(f"tls: failed to verify certificate: {text}")
