"""`NamespacesReview`: in which namespaces the user may do something, also in a cluster without this review.

Only Sampan has the SelfNamespacesReview. For other clusters this module collects the result from standard requests:
one access review for all namespaces, and one for each known namespace. Known are those that the user may list, else
those of the kubeconfig. The result is then `incomplete`: no request lists the namespaces of a user with few rights.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import orjson

from sampan.client import TransportError
from sampan.client.transport import HttpRequest
from sampan.core.errors import bad_request
from sampan.dashboard_proxy.connection import ClusterConnection
from sampan.dashboard_proxy.forward import HEAD_TIMEOUT_S, send, unreachable
from sampan.server.request import Request, Response
from sampan.server.status import json_response

PATH: Final = "/apis/sampan.dev/v1alpha1/selfnamespacesreviews"
NAMESPACES_MAX: Final = 200
"""Maximum number of namespaces that are reviewed for one result."""
CONCURRENT_MAX: Final = 8
_BODY_BYTES_MAX: Final = 64 << 10
_ACCESS_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_NAMESPACES: Final = f"/api/v1/namespaces?limit={NAMESPACES_MAX}"
_NAMES: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_JSON: Final = "application/json"
_MISSING: Final = frozenset({403, 404, 405})
"""Codes of servers that do not have the review; 403 if the user may not create what does not exist."""


class NamespacesReview:
    """Handler that serves the reviews, and passes other requests to `handler`."""

    def __init__(self, connection: ClusterConnection, handler: Callable[[Request], Awaitable[Response]]) -> None:
        self._connection = connection
        self._handler = handler
        self._is_missing = False
        self._limit = asyncio.Semaphore(CONCURRENT_MAX)

    async def handle(self, request: Request) -> Response:
        """Return the response. **Raises** `StatusError`."""
        if request.wire.path != PATH or request.wire.method != "POST":
            return await self._handler(request)
        body = await request.wire.read_body(_BODY_BYTES_MAX)
        if not self._is_missing:
            status, found = await self._call("POST", PATH, body)
            self._is_missing = status in _MISSING
            if not self._is_missing:
                return json_response(found, status)
        return json_response({"status": await self._collected(_attributes(body))}, 201)

    async def _collected(self, attributes: dict[str, str]) -> dict[str, Any]:
        """Return the status of a review."""
        if await self._is_allowed(attributes, ""):
            return {"allNamespaces": True, "namespaces": [], "incomplete": False}
        names, is_complete = await self._known()
        allowed = await asyncio.gather(*(self._is_allowed(attributes, name) for name in names))
        found = [name for name, is_allowed in zip(names, allowed, strict=True) if is_allowed]
        return {"allNamespaces": False, "namespaces": found, "incomplete": not is_complete}

    async def _known(self) -> tuple[list[str], bool]:
        """Return names of namespaces, and True if these are all."""
        status, found = await self._call("GET", _NAMESPACES, accept=_NAMES)
        if status != 200:
            return sorted(self._connection.namespaces), False
        return [str(item["metadata"]["name"]) for item in found["items"]], not found["metadata"].get("continue")

    async def _is_allowed(self, attributes: dict[str, str], namespace: str) -> bool:
        spec = {"resourceAttributes": {**attributes, "namespace": namespace}}
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": spec}
        async with self._limit:
            _, found = await self._call("POST", _ACCESS_REVIEWS, orjson.dumps(review))
        return (found.get("status") or {}).get("allowed") is True

    async def _call(self, method: str, path: str, body: bytes = b"", accept: str = _JSON) -> tuple[int, dict[str, Any]]:
        headers = {"accept": accept} | ({"content-type": _JSON} if body else {})
        outgoing = HttpRequest(method, path, headers, body, timeout_s=HEAD_TIMEOUT_S)
        reply = await send(self._connection, outgoing)
        try:
            found = orjson.loads(await reply.read())
        except TransportError as error:
            raise unreachable(self._connection, error) from error
        except ValueError:
            found = None
        return reply.status, found if isinstance(found, dict) else {}


def _attributes(body: bytes) -> dict[str, str]:
    """Return the attributes of a review. **Raises** `StatusError` 400."""
    try:
        attributes = orjson.loads(body)["spec"]["resourceAttributes"]
        return {str(name): str(value) for name, value in attributes.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise bad_request("spec.resourceAttributes: must be an object of strings") from None
