"""`ServerKeys`: by which keys a server makes itself known, and which of others it takes; told to the other servers.

Each says so in an annotation of its identity Lease. Only digests are told.
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
    """`used`: the digest of the key that this server uses itself; `accepted`: of all that it knows."""

    used: str
    accepted: frozenset[str]


ServerKeys = Mapping[str, KeyUse]
"""By purpose: `ca`, `service-accounts`, `front-proxy`."""


def digest(content: bytes) -> str:
    """What stands for a public key or certificate."""
    return hashlib.sha256(content).hexdigest()[:32]


def told(keys: ServerKeys) -> str:
    """The annotation."""
    return json.dumps({name: [use.used, *sorted(use.accepted - {use.used})] for name, use in sorted(keys.items())})


def heard(annotation: str) -> ServerKeys:
    """What an annotation says; nothing where it makes no sense."""
    try:
        said: Any = json.loads(annotation)
        return {str(name): KeyUse(digests[0], frozenset(digests)) for name, digests in said.items()}
    except (ValueError, AttributeError, LookupError, TypeError):
        return {}


def differences(own: ServerKeys, other: ServerKeys) -> list[str]:
    """What one of two servers uses and the other does not know, with what is to be done about it."""
    found = []
    for name, mine in own.items():
        theirs = other.get(name)
        if theirs is not None and not (mine.used in theirs.accepted and theirs.used in mine.accepted):
            what, files = _CONSEQUENCES[name]
            found.append(f"{what} is another one: copy {files} of one server to the others")
    return found
