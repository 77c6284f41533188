"""`TokenIssuer`: makes the tokens of service accounts.

Source: kubernetes pkg/serviceaccount/{claims,jwt,legacy}.go (1.36).
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sampan.core.legacy_token import legacy_token, signed
from sampan.core.object import Object
from sampan.core.token_keys import SigningKey
from sampan.server.authentication.service_account.user import make_username

WARN_ONLY_EXPIRATION_S = 60 * 60 + 7
"""What the token volume of a Pod asks for by default: a program that never reads it anew is to be found, not broken."""
EXTENDED_EXPIRATION_S = 365 * 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class Bound:
    """What a token dies with: a Pod (with the Node that it runs on), a Secret or a Node."""

    pod: Object | None = None
    secret: Object | None = None
    node: Object | None = None


UNBOUND = Bound()


@dataclass(frozen=True, slots=True)
class Grant:
    """What a token is to say. Times in seconds from now; `warn_after_s` 0: never."""

    audiences: Sequence[str]
    expiration_s: int
    warn_after_s: int = 0
    bound: Bound = UNBOUND


@dataclass(frozen=True, slots=True)
class IssuePolicy:
    """How long tokens may last."""

    expiration_max_s: int = 0
    """0: as long as is asked for."""
    extend: bool = True
    """Whether tokens of Pods that ask for 3607 seconds live a year, and are noted as stale after their time."""

    def extended_s(self) -> int:
        """How long an extended token lives."""
        return min(EXTENDED_EXPIRATION_S, self.expiration_max_s or EXTENDED_EXPIRATION_S)


class TokenIssuer:
    """Signs with one key, in the name of one issuer."""

    def __init__(self, issuer: str, key: SigningKey, policy: IssuePolicy | None = None) -> None:
        self.issuer = issuer
        self.policy = policy or IssuePolicy()
        self._key = key

    def issue(self, account: Object, grant: Grant, now_s: int) -> tuple[str, str]:
        """A token for a ServiceAccount, and its id. `now_s`: seconds since 1970."""
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
        """The token of a Secret: it lasts as long as the Secret."""
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
