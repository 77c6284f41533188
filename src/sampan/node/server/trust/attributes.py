"""Maps a request to a verb and subresources of a Node, for authorization.

Source: kubelet pkg/kubelet/server/auth.go (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_VERBS: Final = {"POST": "create", "GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_FINE: Final = {"pods": "pods", "healthz": "healthz", "configz": "configz", "runningpods": "pods"}
"""First path segments that have their own subresource for authorization. The subresource `proxy` also allows them."""
_OWN: Final = {
    "stats": "stats",
    "metrics": "metrics",
    "logs": "log",
    "checkpoint": "checkpoint",
    "statusz": "statusz",
    "flagz": "configz",
}


@dataclass(frozen=True, slots=True)
class SubresourceAttributes:
    """Verb and subresources for a request. A permission for any of the subresources allows it."""

    verb: str
    subresources: Sequence[str]


def attributes_of(method: str, path: str) -> SubresourceAttributes:
    """Return the attributes of a request."""
    first = path.lstrip("/").partition("/")[0]
    verb = _VERBS.get(method, "")
    if first in _OWN:
        return SubresourceAttributes(verb, (_OWN[first],))
    return SubresourceAttributes(verb, (_FINE[first], "proxy") if first in _FINE else ("proxy",))
