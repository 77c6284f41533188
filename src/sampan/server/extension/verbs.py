"""GET and LIST of computed resources, in every media type.

Source: apiserver pkg/endpoints/handlers/{get,response}.go, pkg/registry/rest TableConvertor (1.36).
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from sampan.core import errors
from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.core.selectors import parse_fields, parse_labels
from sampan.registry.dialect import CUSTOM
from sampan.server.extension.computed import ComputedResource
from sampan.server.media import media_of, written
from sampan.server.request import Handler, Request, RequestInfo, Response
from sampan.server.status import not_found_page
from sampan.server.verbs.options import list_options
from sampan.server.verbs.representations.respond import include_object, not_acceptable
from sampan.wire import json as wire_json
from sampan.wire.partial import partial_bytes
from sampan.wire.table import column_definitions, row, row_with_metadata, table_bytes

_SLICE = 500
"""Number of objects that are encoded before other requests get their turn."""
_LIST_METADATA = {"resourceVersion": ""}


def computed_handler(group: str, version: str, resources: Sequence[ComputedResource]) -> Handler:
    """Return the handler of computed resources of a group version: get and list, and an error for the rest."""
    by_name = {each.resource: each for each in resources}

    async def handle(request: Request) -> Response:
        info = request.info
        found = by_name.get(info.resource) if (info.group, info.version) == (group, version) else None
        if found is None or len(info.parts) > 2 or not _right_scope(found, info):
            return not_found_page()
        one = _Reading(found, f"{group}/{version}", request)
        if info.verb == "get" and len(info.parts) == 2:
            return await one.get(GroupResource(group, found.resource))
        if info.verb == "list":
            return await one.list_all()
        raise errors.method_not_supported(GroupResource(group, found.resource), info.verb)

    return handle


def _right_scope(found: ComputedResource, info: RequestInfo) -> bool:
    if not found.namespaced:
        return not info.namespace
    return bool(info.namespace) or len(info.parts) == 1


class _Reading:
    """One GET or LIST request."""

    def __init__(self, resource: ComputedResource, api_version: str, request: Request) -> None:
        self._resource = resource
        self._api_version = api_version
        self._request = request
        self._media = media_of(request, CUSTOM.media_types)

    async def get(self, group_resource: GroupResource) -> Response:
        found = await self._found(group_resource)
        value, media = self._encoded(found), self._media
        if media is None:
            return Response(200, value)
        if media.transform == "Table":
            return written(media, self._table([found]))
        if media.transform == "PartialObjectMetadata":
            return written(media, partial_bytes(value, media.api_version))
        if media.transform:
            raise not_acceptable(media)
        return written(media, value)

    async def list_all(self) -> Response:
        found, media = await self._selected(), self._media
        if media is not None and media.transform == "PartialObjectMetadata":
            raise not_acceptable(media)
        if media is not None and media.transform == "Table":
            return written(media, self._table(found))
        values = []
        for number, obj in enumerate(found):
            if number % _SLICE == _SLICE - 1:
                await asyncio.sleep(0)
            values.append(self._encoded(obj))
        if media is None or not media.transform:
            body = self._list_of(f"{self._resource.kind}List", self._api_version, values)
            return Response(200, body) if media is None else written(media, body)
        partials = [partial_bytes(value, media.api_version) for value in values]
        return written(media, self._list_of(media.transform, media.api_version, partials))

    async def _found(self, group_resource: GroupResource) -> Object:
        """Return the object of the request. **Raises** 404."""
        info = self._request.info
        if self._resource.get is not None:
            return await self._resource.get(info.namespace, info.name)
        present = await self._resource.list(info.namespace)
        found = next((obj for obj in present if obj["metadata"]["name"] == info.name), None)
        if found is None:
            raise errors.not_found(group_resource, info.name)
        return found

    async def _selected(self) -> list[Object]:
        """Return the objects that match the selectors. **Raises** 400."""
        options, info = list_options(self._request), self._request.info
        try:
            labels, fields = parse_labels(options.label_selector), parse_fields(options.field_selector)
        except ValueError as error:
            raise errors.bad_request(str(error)) from None

        def selected(obj: Object) -> bool:
            metadata = obj["metadata"]
            selectable = {f"metadata.{name}": metadata.get(name, "") for name in ("name", "namespace")}
            return labels.matches(metadata.get("labels") or {}) and fields.matches(selectable)

        return [obj for obj in await self._resource.list(info.namespace) if selected(obj)]

    def _encoded(self, obj: Object) -> bytes:
        return wire_json.encode({"kind": self._resource.kind, "apiVersion": self._api_version, **obj})

    def _list_of(self, kind: str, api_version: str, values: Sequence[bytes]) -> bytes:
        head: dict[str, Any] = {"kind": kind, "apiVersion": api_version, "metadata": _LIST_METADATA}
        return b'%b,"items":[%b]}' % (wire_json.encode(head)[:-1], b",".join(values))

    def _table(self, objects: Sequence[Object]) -> bytes:
        media, columns = self._media, self._resource.columns
        assert media is not None
        include = include_object(self._request)
        rows = []
        for obj in objects:
            cells, value = [column.cell(obj) for column in columns], self._encoded(obj)
            if include == "Metadata":
                rows.append(row_with_metadata(cells, value, media.api_version))
            else:
                rows.append(row(cells, value if include == "Object" else None))
        return table_bytes(column_definitions(columns), rows, _LIST_METADATA, media.api_version)
