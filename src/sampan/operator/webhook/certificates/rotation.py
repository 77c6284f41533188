"""Decide when certificates are replaced, so that clients trust the served certificate at any time. No I/O.

- A serving certificate is replaced `renew_before` its expiry, signed by the same authority.
- A new authority is created `authority_renew_before` the old one expires, and is trusted at once. It signs only after
  `overlap`, when every API server has read the new caBundle. Then the key of the old one is deleted.
- An authority is trusted as long as it could sign, or has signed the served certificate or an earlier one that has not
  expired: a replica may still use it.
"""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from cryptography import x509

from sampan.core.tls.certificates import (
    BACKDATE,
    KeyPair,
    covers,
    make_authority,
    make_server_certificate,
    signed_by,
)
from sampan.operator.webhook.certificates.certificate_set import CertificateSet

_NAME = "sampan-webhook"


@dataclass(frozen=True, slots=True)
class CertificateTerms:
    """Lifetimes of certificates."""

    lifetime: datetime.timedelta = datetime.timedelta(days=90)
    renew_before: datetime.timedelta = datetime.timedelta(days=30)
    authority_lifetime: datetime.timedelta = datetime.timedelta(days=3650)
    authority_renew_before: datetime.timedelta = datetime.timedelta(days=365)
    overlap: datetime.timedelta = datetime.timedelta(hours=1)
    """Time during which a new authority is trusted before it signs."""

    def __post_init__(self) -> None:
        if not self.renew_before < self.lifetime:
            raise ValueError("renew_before must be shorter than lifetime")
        if not self.lifetime + self.overlap < self.authority_renew_before < self.authority_lifetime:
            raise ValueError("authority_renew_before must be between lifetime + overlap and authority_lifetime")


def renewed(
    current: CertificateSet | None, hosts: Sequence[str], now: datetime.datetime, terms: CertificateTerms
) -> CertificateSet:
    """Return the set that should be in use now; `current` itself if no change is needed."""
    alive = [] if current is None else [pair for pair in current.signers if _ends(pair) > now]
    if current is None or not alive:
        return _first(current, hosts, now, terms)
    signers = list(alive)
    if _ends(signers[-1]) - now <= terms.authority_renew_before:
        signers.append(make_authority(_NAME, now, terms.authority_lifetime))
    ripe = [pair for pair in signers[1:] if _made(pair) + terms.overlap <= now]
    signer = ripe[-1] if ripe else signers[0]
    serving, retired = _serving(current, signer, hosts, now, terms)
    kept = signers[signers.index(signer) :]
    believed = list(dict.fromkeys(chain(current.authorities, (pair.certificate for pair in signers))))
    desired = CertificateSet(
        serving,
        tuple(each for each in believed if _needed(each, kept, (serving.certificate, *retired), now)),
        tuple(kept),
        retired,
    )
    return current if desired == current else desired


def next_renewal(current: CertificateSet, terms: CertificateTerms) -> datetime.datetime:
    """Return the next time at which `renewed` may return another set."""
    moments = [_renew_at(current.serving.certificate, terms)]
    moments.append(_ends(current.signers[-1]) - terms.authority_renew_before)
    moments += [_made(pair) + terms.overlap for pair in current.signers[1:]]
    moments += [each.not_valid_after_utc for each in (*current.retired, *current.authorities)]
    return min(moments)


def _first(
    lost: CertificateSet | None, hosts: Sequence[str], now: datetime.datetime, terms: CertificateTerms
) -> CertificateSet:
    """Return a new set. `lost` is an earlier set whose keys no longer exist; its served certificates stay trusted."""
    authority = make_authority(_NAME, now, terms.authority_lifetime)
    serving = make_server_certificate(authority, hosts, now, terms.lifetime, common_name=_NAME)
    if lost is None:
        return CertificateSet(serving, (authority.certificate,), (authority,))
    retired = _alive((*lost.retired, lost.serving.certificate), now)
    return CertificateSet(serving, (*_alive(lost.authorities, now), authority.certificate), (authority,), retired)


def _serving(
    current: CertificateSet,
    signer: KeyPair,
    hosts: Sequence[str],
    now: datetime.datetime,
    terms: CertificateTerms,
) -> tuple[KeyPair, tuple[x509.Certificate, ...]]:
    """Return the serving certificate, and the replaced ones that have not expired."""
    shown = current.serving.certificate
    retired = _alive(current.retired, now)
    covered = covers(shown, hosts)
    if covered and signed_by(shown, signer.certificate) and now < _renew_at(shown, terms):
        return current.serving, retired
    # Replicas with different hosts add theirs one after the other, instead of replacing each other's.
    names = hosts if covered else sorted({*hosts, *_names(shown)})
    lifetime = min(terms.lifetime, _ends(signer) - now)
    made = make_server_certificate(signer, names, now, lifetime, common_name=_NAME)
    return made, (*retired, *_alive((shown,), now))


def _renew_at(certificate: x509.Certificate, terms: CertificateTerms) -> datetime.datetime:
    """Return the renewal time: `renew_before` the expiry, but not before two thirds of the lifetime.

    A certificate of an expiring authority is short-lived. The second limit prevents continuous renewals.
    """
    lifetime = certificate.not_valid_after_utc - certificate.not_valid_before_utc
    return certificate.not_valid_after_utc - min(terms.renew_before, lifetime / 3)


def _names(certificate: x509.Certificate) -> list[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(name.value) for name in names]


def _needed(
    authority: x509.Certificate,
    signers: Sequence[KeyPair],
    shown: Sequence[x509.Certificate],
    now: datetime.datetime,
) -> bool:
    if authority.not_valid_after_utc <= now:
        return False
    may_sign = any(pair.certificate == authority for pair in signers)
    return may_sign or any(signed_by(each, authority) for each in shown)


def _alive(certificates: Iterable[x509.Certificate], now: datetime.datetime) -> tuple[x509.Certificate, ...]:
    return tuple(each for each in certificates if each.not_valid_after_utc > now)


def _ends(pair: KeyPair) -> datetime.datetime:
    return pair.certificate.not_valid_after_utc


def _made(pair: KeyPair) -> datetime.datetime:
    return pair.certificate.not_valid_before_utc + BACKDATE
