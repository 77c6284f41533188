"""`RemoteOpenApi`: what backends say about their types, fetched and kept.

Of v3 only the entries of the index: the documents are proxied. Of v2 the part about the backend's own paths, to be
merged. A backend that gives no answer any more keeps what it said last.
Source: kube-aggregator pkg/controllers/openapi, openapiv3 (1.36).
"""

import asyncio
from typing import Any

from sampan.server.aggregation.api_service import ApiService
from sampan.server.aggregation.backend_client import BackendClient, BackendError, BackendResponse
from sampan.server.openapi.merge import Json, below
from sampan.wire import json as wire_json


class RemoteOpenApi:
    """By the path of the group version (`/apis/<group>/<version>`); `generation` grows with each change."""

    def __init__(self) -> None:
        self._index: dict[str, str] = {}
        self._parts: dict[str, Json] = {}
        self._etags: dict[str, str] = {}
        self.generation = 0

    def url(self, path: str) -> str:
        """Where the v3 document of a group version is, with its hash; empty: the backend has none."""
        return self._index.get(path, "")

    def part(self, path: str) -> list[Json]:
        """What is known of the v2 document."""
        return [self._parts[path]] if path in self._parts else []

    async def refresh(self, api_service: ApiService, client: BackendClient) -> None:
        """Ask the backend. Raises `BackendError`."""
        path = api_service.path
        index = await self._asked(api_service, client, "/openapi/v3")
        if index is not None and self._index.get(path) != (url := _url(index, path)):
            self._index[path] = url
            self.generation += 1
        answer = await self._asked(api_service, client, "/openapi/v2")
        if answer is not None and self._parts.get(path) != (part := await asyncio.to_thread(_part, answer, path)):
            self._parts[path] = part
            self.generation += 1

    def forget(self, api_service: ApiService) -> None:
        """Nobody answers for the group version any more."""
        for known in (self._index, self._parts):
            known.pop(api_service.path, None)
        for path in [key for key in self._etags if key.endswith(f" {api_service.path}")]:
            del self._etags[path]
        self.generation += 1

    async def _asked(self, api_service: ApiService, client: BackendClient, path: str) -> BackendResponse | None:
        """None: it is as it was, or there is none."""
        key, headers = f"{path} {api_service.path}", {"accept": "application/json"}
        if key in self._etags:
            headers["if-none-match"] = self._etags[key]
        answer = await client.get(api_service, path, headers)
        if answer.status == 200:
            if etag := answer.header(b"etag"):
                self._etags[key] = etag
            return answer
        if answer.status >= 500:
            raise BackendError(f"{path}: {answer.status}")
        return None


def _url(answer: BackendResponse, path: str) -> str:
    paths = _decoded(answer).get("paths")
    entry = paths.get(path[1:]) if isinstance(paths, dict) else None
    url = entry.get("serverRelativeURL") if isinstance(entry, dict) else None
    return url if isinstance(url, str) and url.partition("?")[0] == f"/openapi/v3{path}" else ""


def _part(answer: BackendResponse, path: str) -> Json:
    try:
        return below(_decoded(answer), path)
    except (AttributeError, TypeError, RecursionError) as error:
        raise BackendError("the answer is no OpenAPI document") from error


def _decoded(answer: BackendResponse) -> dict[str, Any]:
    try:
        found = wire_json.decode(answer.body)
    except wire_json.DecodeError as error:
        raise BackendError(f"the answer is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise BackendError("the answer is no object")
    return found
