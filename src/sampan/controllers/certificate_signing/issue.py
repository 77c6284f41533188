"""Certificates for requests. Source: kubernetes pkg/controller/certificates/authority/policies.go (1.36)."""

import datetime as dt
from collections.abc import Collection
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import ExtendedKeyUsageOID

from sampan.controllers.certificate_signing.rules import alternative_names
from sampan.core.tls.certificates import BACKDATE, KeyPair

LIFETIME: Final = dt.timedelta(days=365)
_BITS: Final = {
    "signing": "digital_signature",
    "digital signature": "digital_signature",
    "content commitment": "content_commitment",
    "key encipherment": "key_encipherment",
    "data encipherment": "data_encipherment",
    "key agreement": "key_agreement",
}
_PURPOSES: Final = {
    "any": ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
    "client auth": ExtendedKeyUsageOID.CLIENT_AUTH,
    "server auth": ExtendedKeyUsageOID.SERVER_AUTH,
    "code signing": ExtendedKeyUsageOID.CODE_SIGNING,
    "email protection": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "s/mime": ExtendedKeyUsageOID.EMAIL_PROTECTION,
    "ipsec end system": x509.ObjectIdentifier("1.3.6.1.5.5.7.3.5"),
    "ipsec tunnel": x509.ObjectIdentifier("1.3.6.1.5.5.7.3.6"),
    "ipsec user": x509.ObjectIdentifier("1.3.6.1.5.5.7.3.7"),
    "timestamping": ExtendedKeyUsageOID.TIME_STAMPING,
    "ocsp signing": ExtendedKeyUsageOID.OCSP_SIGNING,
}


def lifetime(expiration_s: int | None) -> dt.timedelta:
    """Return the validity of a certificate: as requested, at most one year."""
    return LIFETIME if expiration_s is None else min(dt.timedelta(seconds=expiration_s), LIFETIME)


def issue(
    request: x509.CertificateSigningRequest, usages: Collection[str], ca: KeyPair, now: dt.datetime, age: dt.timedelta
) -> bytes:
    """Return the signed certificate as PEM.

    It expires no later than the CA. Raises `ValueError` if the CA has expired.
    """
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
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.key.public_key()), critical=False)
    )
    usage = _key_usage(usages)
    if usage is not None:
        builder = builder.add_extension(usage, critical=True)
    purposes = list(dict.fromkeys(_PURPOSES[usage] for usage in sorted(usages) if usage in _PURPOSES))
    if purposes:
        builder = builder.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
    names = alternative_names(request)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    signed = builder.sign(ca.key, hashes.SHA256())
    return KeyPair(signed, ca.key).certificate_pem()


def _key_usage(usages: Collection[str]) -> x509.KeyUsage | None:
    """Return the KeyUsage extension; None if none of the usages belongs to it.

    OpenSSL refuses a certificate whose KeyUsage has no bits, and Go leaves the extension out. A leaf signs no
    certificates, whatever the request contains.
    """
    bits = {_BITS[usage] for usage in usages if usage in _BITS}
    if not bits:
        return None
    return x509.KeyUsage(
        **{bit: bit in bits for bit in _BITS.values()},
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
