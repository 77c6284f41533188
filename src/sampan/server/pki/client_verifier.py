"""`ClientCertificateVerifier`: does a client's certificate come from one of our client CAs?

Source: apiserver pkg/authentication/request/x509/x509.go, Go crypto/x509 Verify with ExtKeyUsageClientAuth (1.36).
"""

import datetime
from collections.abc import Iterable, Sequence

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

_CLIENT_USAGES = frozenset({ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE})


class ClientCertificateVerifier:
    """Verifies chains up to a set of CAs, which may be replaced while the server runs."""

    def __init__(self, authorities: Iterable[x509.Certificate]) -> None:
        self.generation = 0
        """Grows whenever the CAs are replaced: what was verified before must be verified again."""
        self._store: Store | None = None
        self.replace(authorities)

    def replace(self, authorities: Iterable[x509.Certificate]) -> None:
        """Trust these CAs from now on, and no others."""
        trusted = list(authorities)
        self._store = Store(trusted) if trusted else None
        self.generation += 1

    def verify(self, certificate: x509.Certificate, intermediates: Sequence[bytes], now: datetime.datetime) -> None:
        """Raises `ValueError` with the reason when `certificate` is not to be trusted at the time `now` (UTC).

        `intermediates`: DER of the further certificates that the client sent.
        """
        if self._store is None:
            raise ValueError("there is no client CA")
        builder = PolicyBuilder().store(self._store).time(now.replace(tzinfo=None))
        verifier = builder.extension_policies(ca_policy=_CA_POLICY, ee_policy=_LEAF_POLICY).build_client_verifier()
        try:
            verifier.verify(certificate, [x509.load_der_x509_certificate(der) for der in intermediates])
        except VerificationError as error:
            raise ValueError(str(error)) from error


def read_authorities(pem: bytes) -> list[x509.Certificate]:
    """The certificates of a bundle. Raises `ValueError` when there are none, or one cannot be read."""
    return x509.load_pem_x509_certificates(pem)


def _check_usage(policy: Policy, certificate: x509.Certificate, usage: x509.ExtendedKeyUsage | None) -> None:
    if usage is not None and _CLIENT_USAGES.isdisjoint(usage):
        raise ValueError("certificate specifies an incompatible key usage")


def _check_signs(policy: Policy, certificate: x509.Certificate, usage: x509.KeyUsage | None) -> None:
    if usage is not None and not usage.key_cert_sign:
        raise ValueError("issuer must not sign certificates")


_LEAF_POLICY = ExtensionPolicy.permit_all().may_be_present(x509.ExtendedKeyUsage, Criticality.AGNOSTIC, _check_usage)
_CA_POLICY = (
    ExtensionPolicy.permit_all()
    .require_present(x509.BasicConstraints, Criticality.AGNOSTIC, None)
    .may_be_present(x509.KeyUsage, Criticality.AGNOSTIC, _check_signs)
    .may_be_present(x509.ExtendedKeyUsage, Criticality.AGNOSTIC, _check_usage)
)
