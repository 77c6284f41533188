"""`find_user`: the first requests to a cluster. They show that it can be used, and as which user."""

from dataclasses import dataclass
from typing import Any, Final

import orjson

from sampan.client import TransportError
from sampan.client.transport import HttpRequest
from sampan.core.clock import utc_now
from sampan.core.time import format_time
from sampan.dashboard_proxy.connection import ClusterConnection
from sampan.server.request import UserInfo

TIMEOUT_S: Final = 15.0
_REVIEW: Final = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_VERSION: Final = "/version"
_BODY: Final = orjson.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})


class ClusterUnusable(Exception):
    """The cluster cannot be used. The text is one line with the cause and the remedy."""


@dataclass(frozen=True, slots=True)
class ClusterUser:
    """User of the kubeconfig in its cluster, and the version of the cluster."""

    user: UserInfo
    version: str


async def find_user(connection: ClusterConnection) -> ClusterUser:
    """Return the user. Its name is that of the context if the cluster does not report it. **Raises** `ClusterUnusable`.

    Source: SelfSubjectReview is in authentication.k8s.io/v1 since Kubernetes 1.28.
    """
    status, review = await _sent(connection, "POST", _REVIEW, _BODY)
    if status == 401:
        raise ClusterUnusable(
            f"{connection.server} refuses the credentials of context {connection.name!r} (401 Unauthorized): "
            f"{_fault(connection)}. Renew them, or choose another context with --context"
        )
    found = (review.get("status") or {}).get("userInfo") or {}
    user = UserInfo(str(found.get("username") or connection.name), groups=tuple(map(str, found.get("groups") or ())))
    _, version = await _sent(connection, "GET", _VERSION)
    return ClusterUser(user, str(version.get("gitVersion") or "of an unknown version"))


def _fault(connection: ClusterConnection) -> str:
    """Return the likely cause of a 401."""
    end = connection.certificate_end()
    if end is not None and end <= utc_now():
        return f"its client certificate has expired at {format_time(end)}"
    return "they have expired or are of another cluster"


async def _sent(connection: ClusterConnection, method: str, path: str, body: bytes = b"") -> tuple[int, dict[str, Any]]:
    headers = {"accept": "application/json"} | ({"content-type": "application/json"} if body else {})
    try:
        reply = await connection.send(HttpRequest(method, path, headers, body, timeout_s=TIMEOUT_S))
        document = await reply.read()
    except TransportError as error:
        raise ClusterUnusable(
            f"cannot reach the cluster of context {connection.name!r}: {error}. Check that it runs, or choose another "
            "context with --context"
        ) from error
    try:
        found = orjson.loads(document)
    except ValueError:
        found = None
    return reply.status, found if isinstance(found, dict) else {}
