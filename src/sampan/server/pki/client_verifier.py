"""`ClientCertificateVerifier`: verifies that a client CA issued a client's certificate.

Source: apiserver pkg/authentication/request/x509/x509.go, Go crypto/x509 Verify with ExtKeyUsageClientAuth (1.36).
"""

import datetime
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID
from cryptography.x509.verification import (
    Criticality,
    ExtensionPolicy,
    Policy,
    PolicyBuilder,
    Store,
    VerificationError,
)

from sampan.core.tls.pem import certificates_in

_CLIENT_USAGES = frozenset({ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE})


class Validity(NamedTuple):
    """Time in which all certificates of a chain are valid, up to the CA's, in seconds since the epoch."""

    begin: float
    end: float

    def includes(self, now: float) -> bool:
        """Return True if the chain is valid at this time."""
        return self.begin <= now <= self.end


class ClientCertificateVerifier:
    """Verifies certificate chains with a set of CAs, which may be replaced while the server runs."""

    def __init__(self, authorities: Iterable[x509.Certificate]) -> None:
        self.generation = 0
        """Incremented when the CAs are replaced. Results of an older generation must be verified again."""
        self.authorities: Sequence[x509.Certificate] = ()
        """The trusted CAs."""
        self._store: Store | None = None
        self.replace(authorities)

    def replace(self, authorities: Iterable[x509.Certificate]) -> None:
        """Replace the trusted CAs."""
        self.authorities = trusted = tuple(authorities)
        self._store = Store(list(trusted)) if trusted else None
        self.generation += 1

    def verify(self, certificate: x509.Certificate, intermediates: Sequence[bytes], now: datetime.datetime) -> Validity:
        """Verify a certificate at the time `now` (UTC), and return how long the result holds. Raises `ValueError` with
        the reason.

        `intermediates` are the other certificates of the client, in DER.
        """
        if self._store is None:
            raise ValueError("no client CA is configured")
        builder = PolicyBuilder().store(self._store).time(now.replace(tzinfo=None))
        verifier = builder.extension_policies(ca_policy=_CA_POLICY, ee_policy=_LEAF_POLICY).build_client_verifier()
        try:
            found = verifier.verify(certificate, [x509.load_der_x509_certificate(der) for der in intermediates])
        except VerificationError as error:
            raise ValueError(str(error)) from error
        return Validity(
            max(each.not_valid_before_utc.timestamp() for each in found.chain),
            min(each.not_valid_after_utc.timestamp() for each in found.chain),
        )


def read_authorities(pem: bytes, file: object = "the file") -> list[x509.Certificate]:
    """Return the certificates of a PEM bundle. Raises `ValueError` if there are none, or if one is invalid."""
    return certificates_in(pem, file)


def _check_usage(policy: Policy, certificate: x509.Certificate, usage: x509.ExtendedKeyUsage | None) -> None:
    if usage is not None and _CLIENT_USAGES.isdisjoint(usage):
        raise ValueError("certificate specifies an incompatible key usage")


def _check_signs(policy: Policy, certificate: x509.Certificate, usage: x509.KeyUsage | None) -> None:
    if usage is not None and not usage.key_cert_sign:
        raise ValueError("the issuer's key usage does not permit certificate signing")


_LEAF_POLICY = ExtensionPolicy.permit_all().may_be_present(x509.ExtendedKeyUsage, Criticality.AGNOSTIC, _check_usage)
_CA_POLICY = (
    ExtensionPolicy.permit_all()
    .require_present(x509.BasicConstraints, Criticality.AGNOSTIC, None)
    .may_be_present(x509.KeyUsage, Criticality.AGNOSTIC, _check_signs)
    .may_be_present(x509.ExtendedKeyUsage, Criticality.AGNOSTIC, _check_usage)
)
