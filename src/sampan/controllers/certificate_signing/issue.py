"""A certificate for a request. Source: kubernetes pkg/controller/certificates/authority/policies.go (1.36)."""

import datetime as dt
from collections.abc import Collection
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import ExtendedKeyUsageOID

from sampan.controllers.certificate_signing.rules import alternative_names
from sampan.core.certificates import BACKDATE, KeyPair

LIFETIME: Final = dt.timedelta(days=365)
_PURPOSES: Final = {
    "any": ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
    "client auth": ExtendedKeyUsageOID.CLIENT_AUTH,
    "server auth": ExtendedKeyUsageOID.SERVER_AUTH,
    "code signing": ExtendedKeyUsageOID.CODE_SIGNING,
    "email protection": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "timestamping": ExtendedKeyUsageOID.TIME_STAMPING,
    "ocsp signing": ExtendedKeyUsageOID.OCSP_SIGNING,
}


def lifetime(expiration_s: int | None) -> dt.timedelta:
    """How long a certificate counts: as long as is asked for, at most a year."""
    return LIFETIME if expiration_s is None else min(dt.timedelta(seconds=expiration_s), LIFETIME)


def issue(
    request: x509.CertificateSigningRequest, usages: Collection[str], ca: KeyPair, now: dt.datetime, age: dt.timedelta
) -> bytes:
    """The certificate, as PEM. It does not outlive the authority's. Raises `ValueError` when that has run out."""
    end = min(now + age, ca.certificate.not_valid_after_utc)
    if end <= now:
        raise ValueError("the signer has expired")
    builder = (
        x509.CertificateBuilder()
        .subject_name(request.subject)
        .issuer_name(ca.certificate.subject)
        .public_key(request.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(max(now - BACKDATE, ca.certificate.not_valid_before_utc))
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(usages), critical=True)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.key.public_key()), critical=False)
    )
    purposes = [_PURPOSES[usage] for usage in sorted(usages) if usage in _PURPOSES]
    if purposes:
        builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
    names = alternative_names(request)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    signed = builder.sign(ca.key, hashes.SHA256())
    return KeyPair(signed, ca.key).certificate_pem()


def _key_usage(usages: Collection[str]) -> x509.KeyUsage:
    """Of what is not a purpose; a leaf signs no certificates, whatever is asked for."""
    return x509.KeyUsage(
        digital_signature="digital signature" in usages or "signing" in usages,
        content_commitment="content commitment" in usages,
        key_encipherment="key encipherment" in usages,
        data_encipherment="data encipherment" in usages,
        key_agreement="key agreement" in usages,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
