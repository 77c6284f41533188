"""From stored bytes to the representation that the client accepts: JSON, YAML, protobuf, Table,
PartialObjectMetadata.

Source: apiserver pkg/endpoints/handlers/response.go (1.36).
"""

from typing import Any

from sampan.core import errors
from sampan.core.field import Path, not_supported
from sampan.core.object import Object
from sampan.registry.endpoint import Endpoint
from sampan.server.request import Request, Response
from sampan.server.verbs.tables import Tabler
from sampan.wire import json as wire_json
from sampan.wire import protobuf as wire_protobuf
from sampan.wire import yaml as wire_yaml
from sampan.wire.negotiation import MediaType, negotiate
from sampan.wire.negotiation import wants_pretty as agent_wants_pretty
from sampan.wire.partial import partial_bytes

_PLAIN = frozenset({"", "*/*", "application/json", "application/json, */*"})
JSON = "application/json"
YAML = "application/yaml"


def media_of(request: Request, *, transforms: bool = True, custom: bool = False) -> MediaType | None:
    """What the client accepts; None = plain JSON (the fast path). `custom` resources have no protobuf. Raises 406."""
    accept = request.headers.get("accept", "")
    if accept in _PLAIN and not wants_pretty(request):
        return None
    media = negotiate(accept, allow_transforms=transforms, custom=custom)
    return None if media.format == "json" and not media.transform and not wants_pretty(request) else media


def wants_pretty(request: Request) -> bool:
    """`?pretty=true`, or an agent that shows answers to people."""
    pretty = request.param("pretty") if request.query else None
    return agent_wants_pretty(pretty, request.headers.get("user-agent", ""))


def object_response(request: Request, endpoint: Endpoint, stored: bytes, status: int = 200) -> Response:
    """One object, given as stored bytes."""
    media = media_of(request, custom=not endpoint.definition.builtin)
    if media is None:
        return Response(status, endpoint.value_of(stored))
    if media.transform == "Table":
        tabler = Tabler(endpoint, include_object(request))
        body = tabler.table([endpoint.value_of(stored)], {"resourceVersion": resource_version_of(stored)})
        return written(request, media, body, status)
    if media.transform == "PartialObjectMetadata":
        return written(request, media, partial_bytes(endpoint.value_of(stored)), status)
    if media.transform:
        raise not_acceptable(media)
    return written(request, media, endpoint.value_of(stored), status)


def dict_response(request: Request, obj: Object, status: int = 200) -> Response:
    """An object that is not stored (Status, Scale, reviews)."""
    media = media_of(request, transforms=False)
    body = wire_json.encode(obj)
    return Response(status, body) if media is None else written(request, media, body, status)


def written(request: Request, media: MediaType, body: bytes, status: int = 200) -> Response:
    """JSON bytes in the negotiated format."""
    if media.format == "yaml":
        return Response(status, wire_yaml.encode(wire_json.decode(body)), content_type=YAML)
    if media.format == "protobuf":
        return Response(status, _protobuf(body), content_type=wire_protobuf.MEDIA_TYPE)
    if wants_pretty(request):
        body = wire_json.pretty(wire_json.decode(body))
    return Response(status, body, content_type=JSON)


def _protobuf(body: bytes) -> bytes:
    obj = wire_json.decode(body)
    if not wire_protobuf.supports(obj["apiVersion"], obj["kind"]):
        raise errors.not_acceptable(
            f"object {obj['kind']} does not implement the protobuf marshalling interface and cannot be encoded to a "
            "protobuf message"
        )
    return wire_protobuf.encode(obj)


def include_object(request: Request) -> str:
    """`?includeObject=` of a Table. Raises 400."""
    policy = request.param("includeObject", "Metadata") if request.query else "Metadata"
    if policy not in ("None", "Metadata", "Object"):
        fault = not_supported(Path("includeObject"), policy, ["Metadata", "None", "Object"])
        raise errors.bad_request(f"Unable to convert to Table as requested: {fault}")
    return policy


def not_acceptable(media: MediaType) -> errors.StatusError:
    """406 for a transform that does not fit (a list form for one object, or the reverse)."""
    return errors.not_acceptable(
        f"you requested {media.transform}, but the requested object can not be converted to it"
    )


def resource_version_of(stored: bytes) -> str:
    """The resourceVersion inside canonical bytes."""
    mark = b'"resourceVersion":"'
    start = stored.find(mark) + len(mark)
    return stored[start : stored.find(b'"', start)].decode()


def success_status(name: str, group: str, resource: str, uid: str) -> dict[str, Any]:
    """The answer of a delete."""
    details: dict[str, Any] = {"name": name}
    if group:
        details["group"] = group
    details["kind"] = resource
    if uid:
        details["uid"] = uid
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
