"""Texts of connection errors, as Go's dialler has them."""

import ssl

import pytest

from sampan.server.proxy.words import connection_text


def refused(code: int, message: str) -> ssl.SSLCertVerificationError:
    """Return a certificate error of OpenSSL."""
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code, error.verify_message = code, message
    return error


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (refused(20, "unable to get local issuer certificate"), "certificate signed by unknown authority"),
        (refused(18, "self-signed certificate"), "certificate signed by unknown authority"),
        (refused(10, "certificate has expired"), "certificate has expired"),
    ],
    ids=["no issuer", "self-signed", "old"],
)
def test_a_certificate_that_does_not_count_is_reported(error: ssl.SSLError, text: str) -> None:
    assert connection_text("h", "h:1", error) == f"tls: failed to verify certificate: x509: {text}"
