"""`Discovery`: answers /api, /apis and below, from documents made once for each generation of the registry."""

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import orjson

from sampan.registry.definition import ResourceDefinition
from sampan.server.discovery.accept import Form, negotiate
from sampan.server.discovery.documents import aggregated, api_group, api_group_list, api_resource_list, api_versions
from sampan.server.discovery.resources import Document, served_groups
from sampan.server.request import Headers, Request, Response
from sampan.server.routes import not_found_page

AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_NOPEER = ";profile=nopeer"


class Definitions(Protocol):
    """What discovery needs of the registry."""

    generation: int

    def definitions(self) -> Sequence[ResourceDefinition]: ...


class _Page(NamedTuple):
    body: bytes
    etag: bytes


class Discovery:
    """`server_address` is what /api tells clients (host:port)."""

    def __init__(self, registry: Definitions, server_address: Callable[[], str] = str) -> None:
        self._registry = registry
        self._server_address = server_address
        self._generation = -1
        self._legacy: dict[str, bytes] = {}
        self._aggregated: dict[str, _Page] = {}

    async def handle(self, request: Request) -> Response:
        """Answer one of the discovery paths; 404 for groups and versions that are not served."""
        self._refresh()
        path = "/" + request.path.strip("/")
        body = self._legacy.get(path)
        if body is None:
            return not_found_page()
        page = self._aggregated.get(path)
        accept = request.headers.get("accept", "")
        if page is not None and negotiate(accept) is Form.AGGREGATED:
            return _aggregated_response(request, page, accept)
        if page is None:
            negotiate(accept)
            return Response(200, body)
        return Response(200, body, headers=[(b"Vary", b"Accept")])

    def paths(self) -> list[str]:
        """All discovery paths, for the index."""
        self._refresh()
        return list(self._legacy)

    def _refresh(self) -> None:
        """Make the documents anew when the registry has changed."""
        generation = self._registry.generation
        if generation == self._generation:
            return
        groups = served_groups(self._registry.definitions())
        named = [group for group in groups if group.name]
        core = [group for group in groups if not group.name]
        legacy: dict[str, Document] = {"/api": api_versions(self._server_address()), "/apis": api_group_list(named)}
        for group in named:
            legacy[f"/apis/{group.name}"] = api_group(group)
        for group in groups:
            prefix = f"/apis/{group.name}" if group.name else "/api"
            for version in group.versions:
                legacy[f"{prefix}/{version.name}"] = api_resource_list(group, version)
        self._legacy = {path: orjson.dumps(document) + b"\n" for path, document in legacy.items()}
        self._aggregated = {"/api": _page(aggregated(core)), "/apis": _page(aggregated(named))}
        self._generation = generation


def _page(document: Document) -> _Page:
    body = orjson.dumps(document)
    return _Page(body, b'"' + hashlib.sha512(body).hexdigest().upper().encode() + b'"')


def _aggregated_response(request: Request, page: _Page, accept: str) -> Response:
    headers: Headers = [(b"ETag", page.etag), (b"Vary", b"Accept"), (b"Cache-Control", b"public")]
    if request.headers.get("if-none-match", "").encode("latin-1") == page.etag:
        return Response(304, content_type="", headers=headers)
    content_type = AGGREGATED_TYPE + _NOPEER if "profile=nopeer" in accept.replace(" ", "") else AGGREGATED_TYPE
    return Response(200, page.body, content_type, headers)
