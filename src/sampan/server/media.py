"""Content negotiation: the media type for an `Accept` header, and responses in it. Used by all verbs and documents.

Source: apiserver pkg/endpoints/handlers/responsewriters/writers.go (1.36).
"""

from dataclasses import replace

from sampan.core import errors
from sampan.core.telemetry.tracing import part_of_current
from sampan.server.request import Request, Response
from sampan.wire import json as wire_json
from sampan.wire import protobuf as wire_protobuf
from sampan.wire import yaml as wire_yaml
from sampan.wire.negotiation import OFFERED, MediaType, negotiate
from sampan.wire.negotiation import wants_pretty as agent_wants_pretty

_PLAIN = frozenset({"", "*/*", "application/json", "application/json, */*"})


def media_of(
    request: Request, untransformed: tuple[str, ...] = OFFERED, *, transforms: bool = True
) -> MediaType | None:
    """Return the media type that the client accepts; None = plain JSON (the fast path). **Raises** 406.

    `untransformed` are the media types of the object itself, if it is not transformed. The result is cached on the
    request, because it is needed before a write and again for the response.
    """
    if not transforms:
        return _negotiated(request, untransformed, transforms=False)
    known = request.accepted
    if known is None or known[0] is not untransformed:
        known = request.accepted = untransformed, _negotiated(request, untransformed, transforms=True)
    return known[1]


def _negotiated(request: Request, untransformed: tuple[str, ...], *, transforms: bool) -> MediaType | None:
    accept = request.headers.get("accept", "")
    pretty = wants_pretty(request)
    if accept in _PLAIN and not pretty:
        return None
    media = negotiate(accept, allow_transforms=transforms, untransformed=untransformed)
    if pretty and not media.pretty:
        return replace(media, pretty=True)
    return None if media.format == "json" and not media.transform and not media.pretty else media


def wants_pretty(request: Request) -> bool:
    """Return True for `?pretty=true`, and for user agents that display responses to people."""
    pretty = request.wire.param("pretty") if request.wire.query else None
    return agent_wants_pretty(pretty, request.headers.get("user-agent", ""))


def written(media: MediaType, body: bytes, status: int = 200) -> Response:
    """Return a response with JSON converted to the negotiated format. **Raises** 406 if the object has no protobuf
    form.
    """
    attributes: dict[str, str | int] = {"mediaType": media.media_type, "size": len(body)}
    with part_of_current("SerializeObject", attributes, "serialize-response-object"):
        return Response(status, formatted(media, body, pretty=media.pretty), content_type=media.media_type)


def formatted(media: MediaType, body: bytes, *, pretty: bool) -> bytes:
    """Convert JSON to the negotiated format. `pretty` applies only to JSON."""
    if media.format == "yaml":
        return wire_yaml.encode(wire_json.decode(body))
    if media.format == "protobuf":
        return _protobuf(body)
    return wire_json.pretty(wire_json.decode(body)) if pretty else body


def _protobuf(body: bytes) -> bytes:
    obj = wire_json.decode(body)
    if not wire_protobuf.supports(obj.get("apiVersion", ""), obj["kind"]):
        raise errors.not_acceptable(
            f"object {obj['kind']} does not implement the protobuf marshalling interface and cannot be encoded to a "
            "protobuf message"
        )
    return wire_protobuf.encode(obj)
