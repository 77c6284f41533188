"""Discovery documents of backends, fetched and cached.

The document of a backend that does not respond is kept and marked as stale.

Source: kube-aggregator pkg/apiserver/handler_discovery.go, apiserver pkg/endpoints/installer.go
ConvertGroupVersionIntoToDiscovery (1.36).
"""

import asyncio
from typing import Any, TypeVar

import msgspec

from sampan.server.aggregation.api_service import ApiService
from sampan.server.aggregation.api_services import GroupVersion
from sampan.server.aggregation.backend_client import BackendClient, BackendError
from sampan.server.aggregation.discovery_types import (
    ApiResourceList,
    GroupDiscoveryList,
    ResourceDiscovery,
    ResponseKind,
    SubresourceDiscovery,
    document_of,
)
from sampan.wire import json as wire_json
from sampan.wire.json import UNREADABLE

Document = dict[str, Any]
T = TypeVar("T")

_ACCEPT = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
)
_BODY_BYTES_MAX = 2 << 20
"""A hundred times the size of this server's own document. The decoders hold the interpreter's lock."""
_AGGREGATED = "as=apigroupdiscoverylist"


class RemoteDiscovery:
    """Documents of the group versions of backends; `generation` grows with each change."""

    def __init__(self) -> None:
        self._known: dict[GroupVersion, Document] = {}
        self._etags: dict[GroupVersion, str] = {}
        self.generation = 0

    def document(self, group: str, version: str) -> Document:
        """Return the aggregated entry of a group version. It is empty and stale before the first fetch."""
        return self._known.get((group, version)) or {"version": version, "resources": [], "freshness": "Stale"}

    async def refresh(self, api_service: ApiService, client: BackendClient) -> None:
        """Fetch the document. If that fails, mark the cached one as stale. **Raises** `BackendError`."""
        place = (api_service.group, api_service.version)
        try:
            found = await self._fetched(api_service, client)
        except BackendError:
            self._keep(place, {**self.document(*place), "freshness": "Stale"})
            raise
        self._keep(place, {**found, "freshness": "Current"})

    def forget(self, api_service: ApiService) -> None:
        """Drop the document of a group version without a backend."""
        place = (api_service.group, api_service.version)
        self._etags.pop(place, None)
        if self._known.pop(place, None) is not None:
            self.generation += 1

    def _keep(self, place: GroupVersion, document: Document) -> None:
        if self._known.get(place) != document:
            self._known[place] = document
            self.generation += 1

    async def _fetched(self, api_service: ApiService, client: BackendClient) -> Document:
        place = (api_service.group, api_service.version)
        headers = {"accept": _ACCEPT}
        if place in self._etags and place in self._known:
            headers["if-none-match"] = self._etags[place]
        response = await client.get(api_service, "/apis", headers, body_bytes_max=_BODY_BYTES_MAX)
        if response.status == 304 and "if-none-match" in headers:
            return self._known[place]
        if response.status == 503:
            raise BackendError("the service returned non-success response code: 503")
        if response.status == 200 and _AGGREGATED in response.header(b"content-type").lower().replace(" ", ""):
            found = await asyncio.to_thread(_of_list, response.body, place)
            self._etags[place] = response.header(b"etag")
            return found
        response = await client.get(
            api_service, api_service.path, {"accept": "application/json"}, body_bytes_max=_BODY_BYTES_MAX
        )
        if response.status != 200:
            raise BackendError(f"failed to download legacy discovery for {api_service.path}: {response.status}")
        return await asyncio.to_thread(_of_resources, response.body, place)


def _of_list(body: bytes, place: GroupVersion) -> Document:
    """Return the entry of a group version in an APIGroupDiscoveryList. **Raises** `BackendError` if the document is not
    such a list.
    """
    group, version = place
    for item in _decoded(body, GroupDiscoveryList).items or ():
        if item.metadata is not None and item.metadata.name == group:
            for entry in item.versions or ():
                if entry.version == version:
                    return {"version": version, "resources": [document_of(each) for each in entry.resources or ()]}
    return {"version": version, "resources": []}


def _of_resources(body: bytes, place: GroupVersion) -> Document:
    """Convert an APIResourceList, in which subresources are separate entries."""
    found: dict[str, ResourceDiscovery] = {}
    for entry in _decoded(body, ApiResourceList).resources or ():
        name, _, part = entry.name.partition("/")
        kind = ResponseKind(entry.group or place[0], entry.version or place[1], entry.kind)
        scope = "Namespaced" if entry.namespaced else "Cluster"
        whole = found.get(name)
        if whole is None:
            whole = found[name] = ResourceDiscovery(name, scope=scope, subresources=[])
        if part and whole.subresources is not None:
            whole.subresources.append(SubresourceDiscovery(part, kind, verbs=entry.verbs))
            continue
        whole.response_kind, whole.scope, whole.verbs = kind, scope, entry.verbs
        whole.singular_resource = entry.singular_name
        whole.short_names, whole.categories = entry.short_names, entry.categories
    return {"version": place[1], "resources": [document_of(each) for each in found.values()]}


def _decoded(body: bytes, type_: type[T]) -> T:
    try:
        return msgspec.convert(wire_json.decode(body), type_)
    except wire_json.DecodeError as error:
        raise BackendError(f"the response is not JSON: {error}") from error
    except UNREADABLE as error:
        raise BackendError(f"the response is not an API{type_.__name__.removeprefix('Api')}: {error}") from error
