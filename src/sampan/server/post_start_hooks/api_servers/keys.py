"""`ServerKeys`: the keys that a server uses and those that it trusts.

Each server publishes their digests in an annotation of its identity Lease.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

ANNOTATION: Final = "sampan.dev/keys"

_CONSEQUENCES: Final = {
    "ca": ("the CA of clients and servers", "pki/ca.crt and pki/ca.key (or --client-ca-file)"),
    "service-accounts": ("the key of service account tokens", "pki/sa.key (or --service-account-key-file)"),
    "front-proxy": ("the CA of front proxies", "pki/front-proxy-* (or --requestheader-client-ca-file)"),
}


class KeyUse(NamedTuple):
    """Digest of the key that this server uses (`used`), and digests of all keys that it trusts (`accepted`)."""

    used: str
    accepted: frozenset[str]


ServerKeys = Mapping[str, KeyUse]
"""Key uses by purpose: `ca`, `service-accounts`, `front-proxy`."""


def digest(content: bytes) -> str:
    """Return the digest of a public key or certificate."""
    return hashlib.sha256(content).hexdigest()[:32]


def annotation_of(keys: ServerKeys) -> str:
    """Return the annotation of the Lease for these keys."""
    return json.dumps({name: [use.used, *sorted(use.accepted - {use.used})] for name, use in sorted(keys.items())})


def keys_of(annotation: str) -> ServerKeys:
    """Return the keys in an annotation, or an empty mapping if it is malformed."""
    try:
        decoded: Any = json.loads(annotation)
        return {str(name): KeyUse(digests[0], frozenset(digests)) for name, digests in decoded.items()}
    except (ValueError, AttributeError, LookupError, TypeError):
        return {}


def differences(own: ServerKeys, other: ServerKeys) -> list[str]:
    """Return a text for each key that one server uses and the other does not trust. The text contains the remedy."""
    found = []
    for name, mine in own.items():
        theirs = other.get(name)
        if theirs is not None and not (mine.used in theirs.accepted and theirs.used in mine.accepted):
            what, files = _CONSEQUENCES[name]
            found.append(f"{what} is another one: copy {files} of one server to the others")
    return found
