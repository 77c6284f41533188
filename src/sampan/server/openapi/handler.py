"""`/openapi/v2` and `/openapi/v3`: documents that are built on demand, and cached until the served resources change.

Source: kube-openapi pkg/handler, pkg/handler3 (1.36).
"""

import asyncio
import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from typing import Protocol

from sampan.core.clock import unix_time
from sampan.registry.registry import ResourceRegistry
from sampan.schema.builtin import Definitions
from sampan.server.compression import SIZE_MIN_BYTES, accepts_gzip, compress
from sampan.server.openapi.content import content
from sampan.server.openapi.documents import Served, document_v2, document_v3, group_versions
from sampan.server.openapi.merge import Json, merged
from sampan.server.openapi.protobuf import encode_document
from sampan.server.openapi.protobuf_v3 import encode_document as encode_v3
from sampan.server.openapi.shared_parameters import share_parameters
from sampan.server.request import Headers, MetricLabels, Request, Response
from sampan.server.routes.version import GIT_VERSION
from sampan.wire import json as wire_json
from sampan.wire.negotiation import parse_accept

_log = logging.getLogger("sampan.openapi")

PROTOBUF_V2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_PROTOBUF_V2_OLD = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
"""Old name that clients still request; the response has the current name."""
_YEAR_S = 365 * 24 * 3600
_JSON = "application/json"
PROTOBUF_V3 = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
_PROTOBUF_V3_OLD = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
_FORMS_V3 = {_JSON: _JSON, PROTOBUF_V3: PROTOBUF_V3, _PROTOBUF_V3_OLD: PROTOBUF_V3}
_FORMS_V2 = {_JSON: _JSON, PROTOBUF_V2: PROTOBUF_V2, _PROTOBUF_V2_OLD: PROTOBUF_V2}
_INDEX, _DOCUMENT = MetricLabels("openapi/v3", component=""), MetricLabels("openapi/v3/", component="")
_VARY_V3: Headers = [(b"Vary", b"Accept")]
_VARY_V2: Headers = [(b"Vary", b"Accept-Encoding"), *_VARY_V3]


@dataclass(slots=True)
class Document:
    """Content and its hash (upper-case SHA-512, also used as ETag). Responses share both forms of it."""

    body: bytes
    hash: str
    _packed: asyncio.Future[bytes] | None = None

    async def packed(self, request: Request) -> bytes | None:
        """Return the content compressed with gzip, or None if it is small or the client does not accept that."""
        if len(self.body) <= SIZE_MIN_BYTES or not accepts_gzip(request.headers):
            return None
        if self._packed is None:
            self._packed = asyncio.get_running_loop().run_in_executor(None, compress, self.body)
        return await asyncio.shield(self._packed)


class Elsewhere(Protocol):
    """Documents of backends, by path of the group version (`/apis/<group>/<version>`)."""

    @property
    def generation(self) -> int:
        """Return a number that grows with each change."""

    def openapi_urls(self) -> Mapping[str, str]:
        """Return the URLs of v3 documents; empty for a backend without one."""

    def openapi_parts(self) -> Mapping[str, Sequence[Json]]:
        """Return the v2 documents."""


class OpenApi:
    """All documents of one server. A group version's document is rebuilt only if its definitions have changed."""

    def __init__(self, registry: ResourceRegistry, builtins: Definitions, elsewhere: Elsewhere | None = None) -> None:
        self._registry = registry
        self._builtins = builtins
        self._elsewhere = elsewhere
        self._v3: dict[str, Document] = {}
        self._v3_messages: dict[str, Document] = {}
        self._hashes: dict[str, tuple[Served, str]] = {}
        self._v2: dict[str, tuple[tuple[int, int], Document]] = {}
        self._lock = asyncio.Lock()
        registry.subscribe(self._forget_removed)

    async def v3(self, request: Request) -> Response:
        """Serve the index or a document. A URL with the current hash is cacheable forever; another hash redirects with
        301.
        """
        request.counted = _INDEX if request.wire.path == "/openapi/v3" else _DOCUMENT
        if request.wire.path.endswith("/"):
            return Response(404, content_type="")
        rest = request.wire.path.removeprefix("/openapi/v3").lstrip("/")
        served = group_versions(self._registry)
        self._forget(served)
        if not rest:
            paths = {
                path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={self._hash(path, pairs)}"}
                for path, pairs in served.items()
            }
            index = wire_json.encode({"paths": self._with_others(paths)})
            return content(request, index, "text/plain; charset=utf-8", [])
        if rest not in served:
            return Response(404, content_type="")
        media_type = _preferred(request, _FORMS_V3)
        if media_type is None:
            return Response(406, content_type="", headers=list(_VARY_V3))
        document = await self._document_v3(rest, served[rest])
        requested = request.wire.param("hash").strip('"')
        if requested and requested != document.hash:
            target = f"/openapi/v3/{rest}?hash={document.hash}"
            return Response(301, headers=[(b"Location", target.encode()), *_VARY_V3])
        headers = [*_VARY_V3, *_kept_for_ever()] if requested else [*_VARY_V3]
        if media_type == PROTOBUF_V3:
            document = await self._message_v3(rest, document)
        return await _content(request, document, media_type, headers)

    async def v2(self, request: Request) -> Response:
        """Serve the document as JSON or protobuf. **Raises** 406 for other media types."""
        media_type = _preferred(request, _FORMS_V2)
        if media_type is None:
            return Response(406, content_type="", headers=list(_VARY_V2))
        document = await self._document_v2(media_type)
        return await _content(request, document, media_type, list(_VARY_V2))

    def _with_others(self, paths: dict[str, Json]) -> dict[str, Json]:
        """Add the entries of backends to the index. Their documents are proxied."""
        urls = self._elsewhere.openapi_urls() if self._elsewhere is not None else {}
        if not urls:
            return paths
        theirs = {path[1:]: {"serverRelativeURL": url} for path, url in urls.items() if url}
        own = {path: entry for path, entry in paths.items() if f"/{path}" not in urls}
        return dict(sorted({**own, **theirs}.items()))

    def _hash(self, path: str, served: Served) -> str:
        """Return the hash of a document without building it, from everything that determines its content."""
        found = self._hashes.get(path)
        if found is None or not _are_same(found[0], served):
            found = self._hashes[path] = (served, served_hash(path, served))
        return found[1]

    def _forget_removed(self) -> None:
        """Release definitions that are no longer served: the compiled schema of a CRD may have hundreds of MB."""
        get = self._registry.get
        for path, (pairs, _) in list(self._hashes.items()):
            if any(get(definition.group, definition.resource) is not definition for definition, _ in pairs):
                del self._hashes[path]

    def _forget(self, served: Mapping[str, Served]) -> None:
        """Drop the cached documents of removed group versions, when more are cached than served."""
        for kept in (self._v3, self._v3_messages, self._hashes):
            if len(kept) > len(served):
                for path in kept.keys() - served.keys():
                    del kept[path]

    async def _message_v3(self, path: str, document: Document) -> Document:
        """Return the document as protobuf."""
        async with self._lock:
            found = self._v3_messages.get(path)
            if found is None or found.hash != document.hash:
                body = await asyncio.to_thread(lambda: encode_v3(wire_json.decode(document.body)))
                found = self._v3_messages[path] = Document(body, document.hash)
        return found

    async def _document_v3(self, path: str, served: Served) -> Document:
        desired = self._hash(path, served)
        async with self._lock:
            found = self._v3.get(path)
            if found is None or found.hash != desired:
                body = await asyncio.to_thread(lambda: wire_json.encode(document_v3(served, self._builtins)))
                self._builtins.forget_descriptions()
                found = self._v3[path] = Document(body, desired)
        return found

    async def _document_v2(self, media_type: str) -> Document:
        elsewhere = self._elsewhere
        generation = (self._registry.generation, elsewhere.generation if elsewhere is not None else 0)
        found = self._v2.get(media_type)
        if found is not None and found[0] == generation:
            return found[1]
        encode = wire_json.encode if media_type == _JSON else encode_document
        parts = elsewhere.openapi_parts() if elsewhere is not None else {}

        def made() -> bytes:
            document = document_v2(self._registry, self._builtins)
            if parts:
                try:
                    return encode(share_parameters(merged(document, parts)))
                except Exception:  # a backend's document may be invalid; serve the local one
                    _log.exception("cannot merge the OpenAPI documents of APIServices; serving the local document")
            return encode(share_parameters(document))

        async with self._lock:
            body = await asyncio.to_thread(made)
            document = Document(body, hashlib.sha512(body).hexdigest().upper())
            self._v2[media_type] = (generation, document)
        return document


async def _content(request: Request, document: Document, media_type: str, headers: Headers) -> Response:
    packed = await document.packed(request)
    return content(request, document.body, media_type, headers, f'"{document.hash}"', packed=packed)


def _are_same(a: Served, b: Served) -> bool:
    """Return True if both lists have identical (not only equal) versions."""
    return len(a) == len(b) and all(one[1] is other[1] for one, other in zip(a, b, strict=True))


def served_hash(path: str, served: Served) -> str:
    """Return a hash that changes with the resources of a group version, and with the schemas of custom ones."""
    digest = hashlib.sha512(f"{GIT_VERSION} {path}".encode())
    for definition, version in served:
        digest.update(f"{definition.resource} {definition.kind} {version.status} {version.scale}".encode())
        if version.openapi is not None:
            digest.update(wire_json.encode(version.openapi))
    return digest.hexdigest().upper()


def _preferred(request: Request, forms: Mapping[str, str]) -> str | None:
    """Return the best accepted media type of `forms`, under its current name, or None."""
    for clause in parse_accept(request.headers.get("accept") or "*/*"):
        for name, form in forms.items():
            type_, _, subtype = name.partition("/")
            if clause.type in (type_, "*") and clause.subtype in (subtype, "*"):
                return form
    return None


def _kept_for_ever() -> Headers:
    expires = formatdate(unix_time() + _YEAR_S, usegmt=True)
    return [(b"Cache-Control", b"public, immutable"), (b"Expires", expires.encode())]
