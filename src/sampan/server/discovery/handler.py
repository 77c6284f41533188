"""`Discovery`: serves /api, /apis and the paths below, from documents that are built once for each registry generation.

A document is JSON. Other formats are built on the first request, and cached.

Source: apiserver pkg/endpoints/discovery, pkg/endpoints/discovery/aggregated (1.36).
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import orjson

from sampan.core import errors
from sampan.registry.definition import ResourceDefinition, builtin_groups
from sampan.server.discovery.documents import aggregated, api_group, api_group_list, api_resource_list, api_versions
from sampan.server.discovery.resources import NOTHING_AGGREGATED, Aggregated, Document, served_groups
from sampan.server.media import formatted, wants_pretty
from sampan.server.request import Headers, MetricLabels, Request, Response
from sampan.server.status import not_found_page
from sampan.wire.negotiation import MediaType, negotiate, negotiate_discovery

_NOPEER: Final = "nopeer"
_COUNTED: Final = {"/api": MetricLabels("api"), "/apis": MetricLabels("apis")}
"""Paths whose requests are counted in metrics."""


class DefinitionSource(Protocol):
    """Part of the registry that discovery needs."""

    generation: int

    def definitions(self) -> Sequence[ResourceDefinition]: ...


class AggregatedGroups(Protocol):
    """Part of the aggregator that discovery needs."""

    @property
    def generation(self) -> int:
        """Return a number that grows with each change."""

    def aggregated(self) -> Aggregated: ...


class _NoAggregator:
    """Aggregator without APIServices."""

    generation = 0

    def aggregated(self) -> Aggregated:
        return NOTHING_AGGREGATED


class _Page:
    """Document in all requested formats. All formats have the same `etag`, because it depends on the content only."""

    __slots__ = ("_bodies", "_body", "etag")

    def __init__(self, document: Document) -> None:
        body = orjson.dumps(document)
        self.etag = b'"' + hashlib.sha512(body).hexdigest().upper().encode() + b'"'
        self._body = body + b"\n"
        self._bodies: dict[tuple[str, bool], bytes] = {}

    def body(self, media: MediaType, *, pretty: bool) -> bytes:
        """Return the document in a format; `pretty` applies to JSON."""
        if media.format == "json" and not pretty:
            return self._body
        key = (media.format, pretty)
        found = self._bodies.get(key)
        if found is None:
            found = self._bodies[key] = formatted(media, self._body, pretty=pretty)
        return found


class Discovery:
    """Serves discovery. `server_address` is the address in /api (host:port)."""

    def __init__(
        self,
        registry: DefinitionSource,
        server_address: Callable[[], str] = str,
        aggregator: AggregatedGroups | None = None,
    ) -> None:
        self._registry = registry
        self._server_address = server_address
        self._aggregator = aggregator or _NoAggregator()
        self._generation = (-1, -1)
        self._elsewhere: list[str] = []
        self._legacy: dict[str, _Page] = {}
        self._builtin: set[str] = set()
        self._aggregated: dict[str, _Page] = {}

    async def handle(self, request: Request) -> Response:
        """Serve a discovery path. **Raises** 404 for unknown groups and versions, 405, 406."""
        self._refresh()
        path = "/" + request.wire.path.strip("/")
        legacy, parts = self._legacy.get(path), path[1:].split("/")
        if legacy is None:
            if (parts[1] if parts[0] == "apis" else "") in self._builtin:
                raise errors.no_such_resource()
            return not_found_page()
        if request.wire.method != "GET" and (parts[0] == "api" or len(parts) > 2):
            raise errors.method_not_allowed()
        accept = request.headers.get("accept", "")
        page = self._aggregated.get(path)
        if page is None:
            return _response(request, legacy, negotiate(accept, allow_transforms=False))
        media = negotiate_discovery(accept)
        if media.transform:
            request.counted = _COUNTED[path]
            return _aggregated_response(request, page, media)
        return _response(request, legacy, media, (b"Vary", b"Accept"))

    def paths(self) -> list[str]:
        """Return all discovery paths for the index."""
        self._refresh()
        return [*self._legacy, *self._elsewhere]

    def _refresh(self) -> None:
        """Rebuild the documents if the registry or the APIServices have changed."""
        generation = (self._registry.generation, self._aggregator.generation)
        if generation == self._generation:
            return
        groups = served_groups(self._registry.definitions(), self._aggregator.aggregated())
        self._elsewhere = []
        self._builtin = builtin_groups(self._registry.definitions())
        named = [group for group in groups if group.name]
        core = [group for group in groups if not group.name]
        legacy: dict[str, Document] = {"/api": api_versions(self._server_address()), "/apis": api_group_list(named)}
        for group in named:
            legacy[f"/apis/{group.name}"] = api_group(group)
        for group in groups:
            prefix = f"/apis/{group.name}" if group.name else "/api"
            for version in group.versions:
                if version.remote is None:
                    legacy[f"{prefix}/{version.name}"] = api_resource_list(group, version)
                else:
                    self._elsewhere.append(f"{prefix}/{version.name}")
        self._legacy = {path: _Page(document) for path, document in legacy.items()}
        self._aggregated = {"/api": _Page(aggregated(core)), "/apis": _Page(aggregated(named))}
        self._generation = generation


def _response(request: Request, page: _Page, media: MediaType, *headers: tuple[bytes, bytes]) -> Response:
    body = page.body(media, pretty=media.pretty or wants_pretty(request))
    return Response(200, body, media.media_type, list(headers))


def _aggregated_response(request: Request, page: _Page, media: MediaType) -> Response:
    headers: Headers = [(b"ETag", page.etag), (b"Vary", b"Accept"), (b"Cache-Control", b"public")]
    if request.headers.get("if-none-match", "").encode("latin-1") == page.etag:
        return Response(304, content_type="", headers=headers)
    content_type = f"{media.media_type};g={media.group};v={media.version};as={media.transform}"
    if media.profile == _NOPEER:
        content_type += f";profile={_NOPEER}"
    return Response(200, page.body(media, pretty=media.pretty or wants_pretty(request)), content_type, headers)
