"""Encoding of stored bytes in the form that the client accepts: JSON, YAML, protobuf, Table, PartialObjectMetadata.

Source: apiserver pkg/endpoints/handlers/response.go (1.36).
"""

from typing import Any

from sampan.core import errors
from sampan.core.event_loop.offload import note_size, offloaded
from sampan.core.field import Path, invalid
from sampan.core.object import Object
from sampan.registry.endpoint import Endpoint
from sampan.server.media import media_of, written
from sampan.server.request import Request, Response
from sampan.server.verbs.representations.tables import Tabler
from sampan.wire import json as wire_json
from sampan.wire.negotiation import MediaType
from sampan.wire.partial import partial_bytes


async def object_response(request: Request, endpoint: Endpoint, stored: bytes, status: int = 200) -> Response:
    """Return the response for one object, given as stored bytes. Raises 500 if a conversion webhook fails."""
    if endpoint.store.definition.webhook is not None:
        stored = await endpoint.store.present(stored)
    media = media_of(request, endpoint.dialect.media_types)
    if media is None and endpoint.is_stored_version:
        return Response(status, stored)
    note_size(len(stored))
    return await offloaded(_shown, request, endpoint, stored, media, status)


def _shown(request: Request, endpoint: Endpoint, stored: bytes, media: MediaType | None, status: int) -> Response:
    """Return the response for stored bytes. Raises 406."""
    if media is None:
        return Response(status, endpoint.value_of(stored))
    if media.transform == "Table":
        tabler = Tabler(endpoint, include_object(request), media.api_version)
        body = tabler.table([endpoint.value_of(stored)], {"resourceVersion": resource_version_of(stored)})
        return written(media, body, status)
    if media.transform == "PartialObjectMetadata":
        return written(media, partial_bytes(endpoint.value_of(stored), media.api_version), status)
    if media.transform:
        raise not_acceptable(media)
    return written(media, endpoint.value_of(stored), status)


def dict_response(request: Request, obj: Object, status: int = 200) -> Response:
    """Return the response for an object that is not stored (Scale, reviews), or for a Status."""
    media = media_of(request, transforms=obj.get("kind") == "Status")
    body = wire_json.encode(obj)
    return Response(status, body) if media is None else written(media, body, status)


def include_object(request: Request) -> str:
    """Return the parameter `includeObject` of a Table. Raises 400."""
    policy = (request.wire.param("includeObject") if request.wire.query else "") or "Metadata"
    if policy not in ("None", "Metadata", "Object"):
        fault = invalid(Path("includeObject"), policy, "must be 'Metadata', 'Object', 'None', or empty")
        raise errors.bad_request(f"Unable to convert to Table as requested: {fault}")
    return policy


def not_acceptable(media: MediaType) -> errors.StatusError:
    """Return 406 for a transform that does not fit (a list form for one object, or the reverse)."""
    return errors.not_acceptable(
        f"you requested {media.transform}, but the requested object can not be converted to it"
    )


def resource_version_of(stored: bytes) -> str:
    """Return the resourceVersion in canonical bytes."""
    mark = b'"resourceVersion":"'
    start = stored.find(mark) + len(mark)
    return stored[start : stored.find(b'"', start)].decode()


def success_status(name: str, group: str, resource: str, uid: str) -> dict[str, Any]:
    """Return the Status of a successful deletion."""
    details: dict[str, Any] = {"name": name}
    if group:
        details["group"] = group
    details["kind"] = resource
    if uid:
        details["uid"] = uid
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
