"""What a request means in the words of the API: a verb on one of the subresources of a Node.

Source: kubelet pkg/kubelet/server/auth.go (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_VERBS: Final = {"POST": "create", "GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_FINE: Final = {"pods": "pods", "healthz": "healthz", "configz": "configz", "runningpods": "pods"}
"""First steps of paths that may also be allowed on their own, without all of `proxy`."""
_OWN: Final = {
    "stats": "stats",
    "metrics": "metrics",
    "logs": "log",
    "checkpoint": "checkpoint",
    "statusz": "statusz",
    "flagz": "configz",
}


@dataclass(frozen=True, slots=True)
class Attributes:
    """To be allowed on any of the subresources is enough."""

    verb: str
    subresources: Sequence[str]


def attributes_of(method: str, path: str) -> Attributes:
    """What a request for a path means."""
    first = path.lstrip("/").partition("/")[0]
    verb = _VERBS.get(method, "")
    if first in _OWN:
        return Attributes(verb, (_OWN[first],))
    return Attributes(verb, (_FINE[first], "proxy") if first in _FINE else ("proxy",))
