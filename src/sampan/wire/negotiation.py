"""Content negotiation: select the media type of a response, and the codec of a request body.

Source: apiserver pkg/endpoints/handlers/negotiation (1.36); github.com/munnerz/goautoneg.
"""

import functools
import re
from dataclasses import dataclass
from typing import Final

from sampan.core.errors import Reason, StatusError

ACCEPT_CHARS_MAX: Final = 4096
_CACHED_LENGTH_MAX: Final = 512
_META_VERSIONS = frozenset((("meta.k8s.io", "v1"), ("meta.k8s.io", "v1beta1")))
_DISCOVERY = ("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList")

FORMATS: Final = {
    "application/json": "json",
    "application/yaml": "yaml",
    "application/vnd.kubernetes.protobuf": "protobuf",
}
"""Media types of Kubernetes and the names of their codecs."""

OFFERED: Final = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
"""Media types that this server supports for built-in types, the preferred one first."""

CUSTOM_OFFERED: Final = ("application/json", "application/yaml")
"""Media types for custom resources, which have no protobuf form."""


@dataclass(frozen=True, slots=True)
class MediaType:
    """Negotiated format, and an optional transform of the object into another kind.

    `transform` is empty, Table, PartialObjectMetadata, PartialObjectMetadataList or (for discovery)
    APIGroupDiscoveryList; `group` and `version` are those of the transform. `stream` is `watch` or empty.
    """

    format: str
    transform: str = ""
    group: str = ""
    version: str = ""
    stream: str = ""
    pretty: bool = False
    profile: str = ""
    media_type: str = "application/json"

    @property
    def api_version(self) -> str:
        """Return the `apiVersion` of the transformed object: `meta.k8s.io/v1`."""
        return f"{self.group}/{self.version}"


@dataclass(frozen=True, slots=True)
class Clause:
    """One alternative of an Accept header."""

    type: str
    subtype: str
    parameters: tuple[tuple[str, str], ...] = ()
    quality: float = 1.0


_is_number = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?").fullmatch


def parse_accept(header: str) -> list[Clause]:
    """Parse an Accept header into its alternatives, the best first. Skips malformed alternatives.

    Only the first `ACCEPT_CHARS_MAX` characters count: any client may send 1 MiB, which would take half a second.
    """
    parts = header[:ACCEPT_CHARS_MAX].split(",")
    clauses = [clause for part in parts if (clause := _parse_clause(part.strip(" "))) is not None]
    # Go sorts up to 12 elements by insertion, whose result differs because `_better` is not a total order.
    if len(clauses) > 12:
        return sorted(clauses, key=lambda c: (-c.quality, c.type == "*", c.subtype == "*"))
    for end in range(1, len(clauses)):
        index = end
        while index > 0 and _better(clauses[index], clauses[index - 1]):
            clauses[index], clauses[index - 1] = clauses[index - 1], clauses[index]
            index -= 1
    return clauses


def _better(a: Clause, b: Clause) -> bool:
    """Report whether `a` is preferred to `b`, as in Go.

    This is not a total order (a specific type beats a wildcard of any quality), hence the insertion sort above.
    """
    if a.quality > b.quality:
        return True
    return (a.type != "*" and b.type == "*") or (a.subtype != "*" and b.subtype == "*")


def _parse_clause(part: str) -> Clause | None:
    media_range, _, rest = part.partition(";")
    type_, _, subtype = media_range.partition("/")
    type_ = type_.strip(" ")
    if not subtype:
        if type_ != "*":
            return None
        subtype = "*"
    elif "/" in subtype[:-1]:
        return None
    subtype = subtype.removesuffix("/").strip(" ")
    quality = 1.0
    parameters: dict[str, str] = {}
    for parameter in rest.split(";"):
        name, _, value = parameter.partition("=")
        if not value or "=" in value[:-1]:
            continue
        name, value = name.strip(" "), value.removesuffix("=")
        if name == "q":
            quality = float(value) if _is_number(value) else 0.0
        else:
            parameters[name] = value.strip(" ")
    return Clause(type_, subtype, tuple(parameters.items()), quality)


def negotiate(
    accept: str,
    offered: tuple[str, ...] = OFFERED,
    *,
    allow_transforms: bool = True,
    untransformed: tuple[str, ...] = OFFERED,
) -> MediaType:
    """Select the representation for an Accept header. Raises 406.

    `allow_transforms`: this endpoint serves Table and PartialObjectMetadata; otherwise, clauses that request them are
    skipped. `untransformed`: media types of the object itself. Custom resources have protobuf only for their metadata.
    """
    if not accept:
        return _plain(offered[0])
    found = _find(accept, offered, "meta" if allow_transforms else "", untransformed)
    if found is None:
        raise not_acceptable(offered)
    return found


def negotiate_discovery(accept: str, offered: tuple[str, ...] = OFFERED) -> MediaType:
    """Select the representation of `/api` and `/apis`. Raises 406.

    The aggregated form is selected if the client names it, regardless of the qualities of the media types.
    Source: apiserver pkg/endpoints/discovery/aggregated/wrapper.go (1.36).
    """
    found = _find(accept, offered, "discovery") if accept else None
    return found or negotiate(accept, offered, allow_transforms=False)


def _find(
    accept: str, offered: tuple[str, ...], transforms: str, untransformed: tuple[str, ...] = OFFERED
) -> MediaType | None:
    """Negotiate with a cache, because clients send few different headers.

    Long headers are not cached, to limit memory.
    """
    find = _negotiate_cached if len(accept) <= _CACHED_LENGTH_MAX else _negotiate
    return find(accept, offered, transforms, untransformed)


@functools.lru_cache(maxsize=256)
def _negotiate_cached(
    accept: str, offered: tuple[str, ...], transforms: str, untransformed: tuple[str, ...]
) -> MediaType | None:
    return _negotiate(accept, offered, transforms, untransformed)


@functools.lru_cache(maxsize=16)
def _plain(media_type: str) -> MediaType:
    return MediaType(FORMATS[media_type], media_type=media_type)


def _negotiate(
    accept: str, offered: tuple[str, ...], transforms: str, untransformed: tuple[str, ...]
) -> MediaType | None:
    for clause in parse_accept(accept):
        for media_type in offered:
            type_, _, subtype = media_type.partition("/")
            if clause.type not in (type_, "*") or clause.subtype not in (subtype, "*"):
                continue
            if clause.type == "*" and clause.subtype != "*":
                continue
            found = _with_parameters(clause, media_type, transforms, untransformed)
            if found is not None:
                return found
    return None


def _with_parameters(
    clause: Clause, media_type: str, transforms: str, untransformed: tuple[str, ...]
) -> MediaType | None:
    """Return the media type with a clause's parameters, or None when they request something that is not served here."""
    parameters = dict(clause.parameters)
    if parameters.get("stream") not in (None, "", "watch") or parameters.get("sv"):
        return None
    format_ = FORMATS[media_type]
    requested = (parameters.get("g", ""), parameters.get("v", ""), parameters.get("as", ""))
    if any(name in parameters for name in ("as", "g", "v")):
        if not _serves(requested, format_, transforms):
            return None
    elif transforms == "discovery" or media_type not in untransformed:
        return None
    return MediaType(
        format_,
        transform=requested[2],
        group=requested[0],
        version=requested[1],
        stream=parameters.get("stream", ""),
        pretty=parameters.get("pretty") == "1",
        profile=parameters.get("profile", ""),
        media_type=media_type,
    )


def _serves(requested: tuple[str, str, str], format_: str, transforms: str) -> bool:
    group, version, kind = requested
    if transforms == "discovery":
        return requested == _DISCOVERY
    if not transforms or (group, version) not in _META_VERSIONS:
        return False
    if kind == "Table":
        return format_ != "protobuf"
    return kind in ("PartialObjectMetadata", "PartialObjectMetadataList")


def not_acceptable(offered: tuple[str, ...]) -> StatusError:
    """Return a 406: no media type that the client accepts is supported."""
    return StatusError(Reason.NOT_ACCEPTABLE, 406, f"only the following media types are accepted: {', '.join(offered)}")


def unsupported_media_type(offered: tuple[str, ...]) -> StatusError:
    """Return a 415: the media type of the request body is not supported."""
    return StatusError(
        Reason.UNSUPPORTED_MEDIA_TYPE,
        415,
        f"the body of the request was in an unknown format - accepted media types include: {', '.join(offered)}",
    )


def body_format(content_type: str, offered: tuple[str, ...] = OFFERED) -> str:
    """Return the codec of a body (`json`, `yaml` ...) by its Content-Type, or the preferred codec without one.

    Ignores parameters such as charset. Raises 415.
    """
    media_type = content_type.partition(";")[0].strip().lower() if content_type else offered[0]
    if media_type not in offered:
        raise unsupported_media_type(offered)
    return FORMATS[media_type]


def wants_pretty(query_value: str | None, user_agent: str) -> bool:
    """Report whether to indent the response: by `?pretty=`, or for user agents used by people."""
    if query_value:
        return query_value in ("1", "t", "T", "TRUE", "true", "True")
    return user_agent.startswith(("curl", "Wget", "Mozilla/5.0"))
