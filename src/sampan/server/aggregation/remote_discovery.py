"""Discovery documents of backends, fetched and cached.

The document of a backend that does not respond is kept and marked as stale.

Source: kube-aggregator pkg/apiserver/handler_discovery.go, apiserver pkg/endpoints/installer.go
ConvertGroupVersionIntoToDiscovery (1.36).
"""

from typing import Any

from sampan.server.aggregation.api_service import ApiService
from sampan.server.aggregation.api_services import GroupVersion
from sampan.server.aggregation.backend_client import BackendClient, BackendError
from sampan.wire import json as wire_json

Document = dict[str, Any]

_ACCEPT = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
)
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
        response = await client.get(api_service, "/apis", headers)
        if response.status == 304 and "if-none-match" in headers:
            return self._known[place]
        if response.status == 503:
            raise BackendError("the service returned non-success response code: 503")
        if response.status == 200 and _AGGREGATED in response.header(b"content-type").lower().replace(" ", ""):
            found = _of_list(_decoded(response.body), place)
            self._etags[place] = response.header(b"etag")
            return found
        response = await client.get(api_service, api_service.path, {"accept": "application/json"})
        if response.status != 200:
            raise BackendError(f"failed to download legacy discovery for {api_service.path}: {response.status}")
        return _of_resources(_decoded(response.body), place)


def _decoded(body: bytes) -> Document:
    try:
        found = wire_json.decode(body)
    except wire_json.DecodeError as error:
        raise BackendError(f"the response is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise BackendError("the response is not an object")
    return found


def _of_list(document: Document, place: GroupVersion) -> Document:
    """Return the entry of a group version in an APIGroupDiscoveryList. **Raises** `BackendError` if the document is not
    such a list.
    """
    group, version = place
    try:
        for item in document.get("items") or ():
            if (item.get("metadata") or {}).get("name", "") == group:
                for entry in item.get("versions") or ():
                    if entry.get("version") == version:
                        return {"version": version, "resources": [_with_kinds(each) for each in entry["resources"]]}
    except (AttributeError, KeyError, TypeError) as error:
        raise BackendError("the response is not an APIGroupDiscoveryList") from error
    return {"version": version, "resources": []}


def _with_kinds(resource: Document) -> Document:
    """Return the resource, and its subresources, with a `responseKind`, because clients require this field."""
    nothing = {"group": "", "version": "", "kind": ""}
    found = {**resource, "responseKind": resource.get("responseKind") or nothing}
    if resource.get("subresources"):
        parts = resource["subresources"]
        found["subresources"] = [{**part, "responseKind": part.get("responseKind") or nothing} for part in parts]
    return found


def _of_resources(document: Document, place: GroupVersion) -> Document:
    """Convert an APIResourceList, in which subresources are separate entries."""
    found: dict[str, Document] = {}
    try:
        for entry in document.get("resources") or ():
            name, _, part = entry["name"].partition("/")
            kind = {
                "group": entry.get("group") or place[0],
                "version": entry.get("version") or place[1],
                "kind": entry.get("kind", ""),
            }
            scope = "Namespaced" if entry.get("namespaced") else "Cluster"
            if part:
                whole = found.setdefault(name, {"resource": name, "scope": scope, "verbs": []})
                parts = whole.setdefault("subresources", [])
                parts.append({"subresource": part, "responseKind": kind, "verbs": list(entry.get("verbs") or ())})
                continue
            whole = found.setdefault(name, {})
            whole |= {
                "resource": name,
                "responseKind": kind,
                "scope": scope,
                "singularResource": entry.get("singularName", ""),
                "verbs": list(entry.get("verbs") or ()),
            }
            whole |= {each: entry[each] for each in ("shortNames", "categories") if entry.get(each)}
    except (AttributeError, KeyError, TypeError) as error:
        raise BackendError("the response is not an APIResourceList") from error
    return {"version": place[1], "resources": [_with_kinds(each) for each in found.values()]}
