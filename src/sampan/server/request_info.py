"""Parser of request targets: path, query and their meaning (`RequestInfo`).

Source: apiserver pkg/endpoints/request/requestinfo.go (1.36).
"""

import re
from binascii import a2b_qp
from typing import Final, NamedTuple

from sampan.core.addresses.url import split_url
from sampan.core.errors import StatusError, bad_request, internal_error
from sampan.core.recent import Recent
from sampan.core.selectors.fields import parse_fields
from sampan.server.request import RequestInfo
from sampan.server.secret_paths import PORT_LINKS
from sampan.streams.tunnels import PATH as TUNNELS

_BROKEN_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_VERBS = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_SPECIAL_VERBS = frozenset({"proxy", "watch"})
_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})
_SELECTOR_VERBS = frozenset({"list", "watch", "deletecollection"})
_LONG_RUNNING_VERBS = frozenset({"watch", "proxy"})
_LONG_RUNNING_SUBRESOURCES = frozenset({"attach", "exec", "proxy", "log", "portforward"})

_CACHE_ENTRIES_MAX = 4096
_CACHED_TARGET_BYTES_MAX = 1024
_CACHED_S = 60.0


class RequestTarget(NamedTuple):
    """Parsed request target. Requests share it, so it must not be changed."""

    path: str
    query_string: str
    query: dict[str, list[str]]
    info: RequestInfo
    long_running: bool
    raw_path: str


class TargetCache:
    """Cache of parsed targets, because clients repeat them.

    Bounded in number and time; see `Recent`.
    """

    def __init__(self, entries_max: int = _CACHE_ENTRIES_MAX) -> None:
        self._targets: Recent[tuple[str, bytes], RequestTarget] = Recent(entries_max, _CACHED_S)

    def __len__(self) -> int:
        return len(self._targets)

    def get(self, method: str, raw: bytes) -> RequestTarget:
        """Return the parsed form of a target. **Raises** `StatusError` 400 if it is malformed."""
        key = (method, raw)
        target = self._targets.get(key)
        if target is None:
            target = parse_target(method, raw)
            if len(raw) <= _CACHED_TARGET_BYTES_MAX:
                self._targets.put(key, target)
        return target


def parse_target(method: str, raw: bytes) -> RequestTarget:
    """Parse the target of a request line. **Raises** `StatusError`: 400 if it is malformed, 500 for a watch without a
    resource.
    """
    text = raw.decode("latin-1")
    if not text.startswith("/"):
        text = _origin_form(text)
    raw_path, _, query_string = text.partition("?")
    path = _unquote(raw_path) if "%" in raw_path or not raw_path.isascii() else raw_path
    query = parse_query(query_string) if query_string else {}
    info = request_info(method, path, query)
    return RequestTarget(path, query_string, query, info, is_long_running(info), raw_path)


def parse_query(query_string: str) -> dict[str, list[str]]:
    """Return the parameters in order of appearance. As in Go, pairs with `;` or a malformed escape are dropped."""
    query: dict[str, list[str]] = {}
    for pair in query_string.split("&"):
        if not pair or ";" in pair or ("%" in pair and _BROKEN_ESCAPE.search(pair)):
            continue
        name, _, value = pair.partition("=")
        if "%" in pair or "+" in pair:
            name, value = _decoded(name.replace("+", " ")), _decoded(value.replace("+", " "))
        query.setdefault(name, []).append(value)
    return query


def is_long_running(info: RequestInfo) -> bool:
    """Return True if the request has no deadline."""
    if not info.is_resource:
        return info.path.startswith((TUNNELS, PORT_LINKS))
    return info.verb in _LONG_RUNNING_VERBS or info.subresource in _LONG_RUNNING_SUBRESOURCES


def request_info(method: str, path: str, query: dict[str, list[str]]) -> RequestInfo:
    """Return the meaning of method and path. **Raises** `StatusError` 500 if the path ends after `watch` or `proxy`."""
    info = RequestInfo(path, method.lower())
    stripped = path.strip("/")
    parts = stripped.split("/") if stripped else []
    if len(parts) < 3 or parts[0] not in ("api", "apis"):
        return info
    if parts[0] == "apis":
        if len(parts) < 4:
            return info
        info.group, parts = parts[1], parts[2:]
    else:
        parts = parts[1:]
    info.is_resource, info.version, parts = True, parts[0], parts[1:]
    via_path_prefix = parts[0] in _SPECIAL_VERBS
    if via_path_prefix:
        if len(parts) < 2:
            raise internal_error(f"unable to determine kind and namespace from url, {path}")
        info.verb, parts = parts[0], parts[1:]
    else:
        info.verb = _VERBS.get(method, "")
    _fill_parts(info, parts)
    _refine_verb(info, query)
    if not via_path_prefix and info.verb in _SELECTOR_VERBS:
        info.field_selector = query["fieldSelector"][0] if "fieldSelector" in query else ""
        info.label_selector = query["labelSelector"][0] if "labelSelector" in query else ""
    return info


def _fill_parts(info: RequestInfo, parts: list[str]) -> None:
    """Set namespace, resource, name and subresource from the path after the version."""
    if parts[0] == "namespaces" and len(parts) > 1:
        info.namespace = parts[1]
        if len(parts) > 2 and parts[2] not in _NAMESPACE_SUBRESOURCES:
            parts = parts[2:]
    info.parts = tuple(parts)
    info.resource = parts[0]
    if len(parts) >= 2:
        info.name = parts[1]
    if len(parts) >= 3 and info.verb != "proxy":
        info.subresource = parts[2]


def _refine_verb(info: RequestInfo, query: dict[str, list[str]]) -> None:
    """Change get to list or watch, and delete to deletecollection, if there is no name."""
    if info.name:
        return
    if info.verb == "get":
        watch = query.get("watch")
        info.verb = "watch" if watch and watch[0].lower() not in ("false", "0") else "list"
        if "fieldSelector" in query:
            info.name = _exact_name(query["fieldSelector"][0])
    if info.verb == "delete" and not info.name:
        info.verb = "deletecollection"


def _exact_name(field_selector: str) -> str:
    """Return the name that a field selector requires, or an empty string."""
    if "metadata.name" not in field_selector:
        return ""
    try:
        name = parse_fields(field_selector).requires_exact("metadata.name") or ""
    except ValueError:
        return ""
    return "" if name in (".", "..") or "/" in name or "%" in name else name


def _origin_form(text: str) -> str:
    """Remove scheme and host from a proxy-style target such as `http://host/path`. **Raises** `StatusError` 400."""
    scheme, separator, rest = text.partition("://")
    if not separator or scheme not in ("http", "https"):
        if text == "*":
            return "/"
        raise _malformed(text)
    try:
        split_url(text)
    except ValueError:
        raise _malformed(text) from None
    _, slash, path = rest.partition("/")
    return slash + path or "/"


def _unquote(raw_path: str) -> str:
    """Percent-decode a path. **Raises** `StatusError` 400 for a malformed escape."""
    if _BROKEN_ESCAPE.search(raw_path):
        raise _malformed(raw_path)
    return _decoded(raw_path)


def _decoded(text: str) -> str:
    """Percent-decode a text whose escapes are all well-formed.

    `urllib.parse.unquote` takes 100 ms for 1 MB of escapes, on the event loop and before authentication. This takes
    5 ms: quoted-printable differs only in its escape character, and Python decodes it in C.
    """
    quoted = text.encode("latin-1").replace(b"=", b"=3D").replace(b"%", b"=")
    return a2b_qp(quoted).decode("utf-8", "replace")


def _malformed(text: str) -> StatusError:
    return bad_request(f"invalid request target: {text[:256]!r}")
