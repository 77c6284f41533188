"""`TokenIssuer`: issues the tokens of service accounts.

Source: kubernetes pkg/serviceaccount/{claims,jwt,legacy}.go (1.36).
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sampan.core.object import Object
from sampan.core.tokens.keys import SigningKey
from sampan.core.tokens.legacy import legacy_token, signed
from sampan.server.authentication.service_account.user import make_username

WARN_ONLY_EXPIRATION_S = 60 * 60 + 7
"""Lifetime in seconds that the token volume of a Pod requests by default. Such tokens are extended, so that programs
which never reload their token are reported and do not fail.
"""
EXTENDED_EXPIRATION_S = 365 * 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class Bound:
    """Object to which a token is bound: a Pod (with its Node), a Secret or a Node."""

    pod: Object | None = None
    secret: Object | None = None
    node: Object | None = None


UNBOUND = Bound()


@dataclass(frozen=True, slots=True)
class Grant:
    """Content of a token. Times are seconds from now. `warn_after_s` 0 means never."""

    audiences: Sequence[str]
    expiration_s: int
    warn_after_s: int = 0
    bound: Bound = UNBOUND


@dataclass(frozen=True, slots=True)
class IssuePolicy:
    """Lifetimes of tokens."""

    expiration_max_s: int = 0
    """Maximum lifetime; 0 for no maximum."""
    extend: bool = True
    """Extend the tokens of Pods that request 3607 seconds to one year, and report their use after 3607 seconds as
    stale.
    """

    def extended_s(self) -> int:
        """Return the lifetime of an extended token."""
        return min(EXTENDED_EXPIRATION_S, self.expiration_max_s or EXTENDED_EXPIRATION_S)


class TokenIssuer:
    """Signs tokens with one key for one issuer."""

    def __init__(self, issuer: str, key: SigningKey, policy: IssuePolicy | None = None) -> None:
        self.issuer = issuer
        self.policy = policy or IssuePolicy()
        self._key = key

    def issue(self, account: Object, grant: Grant, now_s: int) -> tuple[str, str]:
        """Return a new token for a ServiceAccount, and the token's id. `now_s` is seconds since 1970."""
        identifier = str(uuid.uuid4())
        claims = {
            "aud": list(grant.audiences),
            "exp": now_s + grant.expiration_s,
            "iat": now_s,
            "iss": self.issuer,
            "jti": identifier,
            "kubernetes.io": _private_claims(account, grant, now_s),
            "nbf": now_s,
            "sub": make_username(account["metadata"]["namespace"], account["metadata"]["name"]),
        }
        return signed(self._key, claims), identifier

    def legacy(self, account: Object, secret_name: str) -> str:
        """Return the token of a Secret, which is valid as long as the Secret exists."""
        return legacy_token(self._key, account["metadata"], secret_name)


def _private_claims(account: Object, grant: Grant, now_s: int) -> dict[str, Any]:
    claims: dict[str, Any] = {
        "namespace": account["metadata"]["namespace"],
        "serviceaccount": _ref(account),
    }
    bound = grant.bound
    for name, obj in (("pod", bound.pod), ("secret", bound.secret), ("node", bound.node)):
        if obj is not None:
            claims[name] = _ref(obj)
    if grant.warn_after_s:
        claims["warnafter"] = now_s + grant.warn_after_s
    return claims


def _ref(obj: Object) -> dict[str, str]:
    metadata = obj["metadata"]
    return {"name": metadata["name"], "uid": metadata["uid"]} if metadata.get("uid") else {"name": metadata["name"]}
