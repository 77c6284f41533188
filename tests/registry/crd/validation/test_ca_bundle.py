"""Validation of the CA bundles of conversion webhooks."""

import base64
from datetime import UTC, datetime

import pytest

from sampan.registry.crd.validation.ca_bundle import ca_bundle_error
from sampan.server.pki.certificates import make_ca

CERTIFICATE = make_ca("webhook", datetime.now(UTC)).certificate_pem()
OTHER = b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"
BROKEN = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"


@pytest.mark.parametrize(
    ("pem", "text"),
    [
        pytest.param(b"", "", id="none"),
        pytest.param(CERTIFICATE, "", id="one certificate"),
        pytest.param(b"about it\n" + OTHER + BROKEN + CERTIFICATE + b"\nafter", "", id="one among others"),
        pytest.param(b"nonsense", "unable to parse bytes as PEM block", id="no PEM"),
        pytest.param(OTHER, "no valid certificate authority data seen", id="no certificate"),
        pytest.param(BROKEN, "failed to parse certificate: x509: malformed certificate", id="broken"),
    ],
)
def test_a_bundle_needs_one_certificate_that_can_be_read(pem: bytes, text: str) -> None:
    error = ca_bundle_error(base64.b64encode(pem).decode())
    assert error == (f"unable to load root certificates: {text}" if text else "")
