"""`User`: user of a request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography import x509
from cryptography.x509.oid import NameOID


@dataclass(frozen=True, slots=True)
class User:
    """User name with its groups and extra fields."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def user_of_certificate(certificate: bytes) -> User:
    """Return the user of a certificate (DER): common name and organizations. Raises `ValueError`."""
    subject = x509.load_der_x509_certificate(certificate).subject
    names = [str(each.value) for each in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    groups = tuple(str(each.value) for each in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME))
    return User(names[-1] if names else "", groups)


def user_of_info(info: Mapping[str, Any]) -> User:
    """Return the user of a TokenReview."""
    extra = {str(key): tuple(values or ()) for key, values in (info.get("extra") or {}).items()}
    return User(info.get("username", ""), tuple(info.get("groups") or ()), info.get("uid", ""), extra)
