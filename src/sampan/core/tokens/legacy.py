"""Service account tokens in Secrets: they are valid as long as their Secret exists, and their use is tracked.

Source: kubernetes pkg/serviceaccount/legacy.go, pkg/controlplane/controller/legacytokentracking (1.36).
"""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any, Final

import jwt

from sampan.core.tokens.keys import SigningKey

LEGACY_ISSUER = "kubernetes/serviceaccount"
CLAIM_PREFIX = "kubernetes.io/serviceaccount/"
LAST_USED_LABEL: Final = "kubernetes.io/legacy-token-last-used"
"""Label of a Secret. Its value is the day on which the token was last used."""
INVALID_SINCE_LABEL: Final = "kubernetes.io/legacy-token-invalid-since"
"""Label of a Secret. Its value is the day since which the token is rejected."""
TRACKING_NAMESPACE: Final = "kube-system"
TRACKING_NAME: Final = "kube-apiserver-legacy-service-account-token-tracking"
"""Name of the ConfigMap that contains the day since which the use of tokens is tracked."""
TRACKING_KEY: Final = "since"

_is_day = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}").fullmatch


def legacy_token(key: SigningKey, account: Mapping[str, Any], secret_name: str) -> str:
    """Return the token of a ServiceAccount (given by its `metadata`) for the Secret with this name."""
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
    """Sign a JWT; its header contains the key ID."""
    headers = {"kid": key.verifying.key_id, "typ": None}
    return jwt.encode(dict(claims), key.key, algorithm=key.verifying.algorithm, headers=headers)


def format_day(instant: dt.datetime) -> str:
    """Format a day for the labels: `2006-01-02`, in UTC."""
    return instant.astimezone(dt.UTC).date().isoformat()


def parse_day(text: str) -> dt.datetime:
    """Return the start of a day. Raises `ValueError`."""
    if not _is_day(text):
        raise ValueError(f"{text!r} is not a date in the form 2006-01-02")
    return dt.datetime.combine(dt.date.fromisoformat(text), dt.time(), dt.UTC)
