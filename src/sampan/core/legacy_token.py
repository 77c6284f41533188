"""Tokens of service accounts that lie in Secrets: they last as long as their Secret.

Source: kubernetes pkg/serviceaccount/legacy.go LegacyClaims (1.36).
"""

from collections.abc import Mapping
from typing import Any

import jwt

from sampan.core.token_keys import SigningKey

LEGACY_ISSUER = "kubernetes/serviceaccount"
CLAIM_PREFIX = "kubernetes.io/serviceaccount/"


def legacy_token(key: SigningKey, account: Mapping[str, Any], secret_name: str) -> str:
    """The token of a ServiceAccount (its `metadata`) in the Secret of this name."""
    namespace, name = account["namespace"], account["name"]
    claims = {
        "iss": LEGACY_ISSUER,
        f"{CLAIM_PREFIX}namespace": namespace,
        f"{CLAIM_PREFIX}secret.name": secret_name,
        f"{CLAIM_PREFIX}service-account.name": name,
        f"{CLAIM_PREFIX}service-account.uid": account["uid"],
        "sub": f"system:serviceaccount:{namespace}:{name}",
    }
    return signed(key, claims)


def signed(key: SigningKey, claims: Mapping[str, Any]) -> str:
    """A JWT that names the key."""
    headers = {"kid": key.verifying.key_id, "typ": None}
    return jwt.encode(dict(claims), key.key, algorithm=key.verifying.algorithm, headers=headers)
