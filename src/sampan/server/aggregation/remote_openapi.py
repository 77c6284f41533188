"""`RemoteOpenApi`: OpenAPI documents of backends, fetched and cached.

For v3 these are only the index entries, because the documents are proxied. For v2 it is the part for the backend's
paths. The documents of a backend that does not respond are kept.

Source: kube-aggregator pkg/controllers/openapi, openapiv3 (1.36).
"""

import asyncio
from typing import Any

from sampan.server.aggregation.api_service import ApiService
from sampan.server.aggregation.backend_client import BackendClient, BackendError, BackendResponse
from sampan.server.openapi.merge import Json, below
from sampan.wire import json as wire_json

_BODY_BYTES_MAX = 8 << 20
"""Four times the size of this server's own document. The decoder holds the interpreter's lock."""


class RemoteOpenApi:
    """Documents by path of the group version (`/apis/<group>/<version>`); `generation` grows with each change."""

    def __init__(self) -> None:
        self._index: dict[str, str] = {}
        self._parts: dict[str, Json] = {}
        self._etags: dict[str, str] = {}
        self.generation = 0

    def url(self, path: str) -> str:
        """Return the URL of a v3 document, with its hash; empty if the backend has none."""
        return self._index.get(path, "")

    def part(self, path: str) -> list[Json]:
        """Return the cached v2 document."""
        return [self._parts[path]] if path in self._parts else []

    async def refresh(self, api_service: ApiService, client: BackendClient) -> None:
        """Fetch the documents. **Raises** `BackendError`."""
        path = api_service.path
        index = await self._fetch(api_service, client, "/openapi/v3")
        if index is not None and self._index.get(path) != (url := await asyncio.to_thread(_url, index, path)):
            self._index[path] = url
            self.generation += 1
        response = await self._fetch(api_service, client, "/openapi/v2")
        if response is not None and self._parts.get(path) != (part := await asyncio.to_thread(_part, response, path)):
            self._parts[path] = part
            self.generation += 1

    def forget(self, api_service: ApiService) -> None:
        """Drop the documents of a group version without a backend."""
        for known in (self._index, self._parts):
            known.pop(api_service.path, None)
        for path in [key for key in self._etags if key.endswith(f" {api_service.path}")]:
            del self._etags[path]
        self.generation += 1

    async def _fetch(self, api_service: ApiService, client: BackendClient, path: str) -> BackendResponse | None:
        """Return the response; None if the document is unchanged or does not exist."""
        key, headers = f"{path} {api_service.path}", {"accept": "application/json"}
        if key in self._etags:
            headers["if-none-match"] = self._etags[key]
        response = await client.get(api_service, path, headers, body_bytes_max=_BODY_BYTES_MAX)
        if response.status == 200:
            if etag := response.header(b"etag"):
                self._etags[key] = etag
            return response
        if response.status >= 500:
            raise BackendError(f"{path}: {response.status}")
        return None


def _url(response: BackendResponse, path: str) -> str:
    paths = _decoded(response).get("paths")
    entry = paths.get(path[1:]) if isinstance(paths, dict) else None
    url = entry.get("serverRelativeURL") if isinstance(entry, dict) else None
    return url if isinstance(url, str) and url.partition("?")[0] == f"/openapi/v3{path}" else ""


def _part(response: BackendResponse, path: str) -> Json:
    try:
        return below(_decoded(response), path)
    except (AttributeError, TypeError, RecursionError) as error:
        raise BackendError("the response is not an OpenAPI document") from error


def _decoded(response: BackendResponse) -> dict[str, Any]:
    try:
        found = wire_json.decode(response.body)
    except wire_json.DecodeError as error:
        raise BackendError(f"the response is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise BackendError("the response is not an object")
    return found
