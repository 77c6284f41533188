"""URLs, parsed like Go's net/url. Source: apiserver pkg/cel/library/urls.go (1.36)."""

import re
import urllib.parse

from sampan.core.field import quote
from sampan.schema.cel.declarations import Library, first_traversal, function, member, with_cost
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.types import BOOL, STRING, list_of, map_of, struct
from sampan.schema.cel.values import LibraryValue

URL = struct("kubernetes.URL")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PORT = re.compile(r"(?::[0-9]*)?")
_PATH_SAFE = "/!$&'()*+,;=:@-._~%[]"


class URLValue(LibraryValue):
    """URL with its parts; compared by text."""

    __slots__ = ("host", "path", "query", "scheme", "text")
    type_name = URL.name

    def __init__(self, text: str) -> None:
        rest, _, _ = text.partition("#")
        self.scheme = ""
        match = _SCHEME.match(rest)
        if match is not None and rest[match.end() : match.end() + 1] == ":":
            self.scheme, rest = match[0].lower(), rest[match.end() + 1 :]
        rest, _, self.query = rest.partition("?")
        self.host = ""
        if self.scheme and not rest.startswith("/"):
            rest = ""  # Opaque, as in mailto:a@b: there is no path.
        if rest.startswith("//"):
            authority, slash, path = rest[2:].partition("/")
            self.host = urllib.parse.unquote(authority.rpartition("@")[2])
            rest = slash + path
        self.path = rest
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, URLValue) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


def uri_error(text: str) -> str:
    """Return Go's error for a text that is not an absolute URI; "" if it is valid."""
    reason = _reason(text)
    return f"parse {quote(text)}: {reason}" if reason else ""


def _reason(text: str) -> str:
    if not text:
        return "empty url"
    if text == "*":
        return ""
    if any(ord(char) < 32 or ord(char) == 127 for char in text):
        return "net/url: invalid control character in URL"
    match = _SCHEME.match(text)
    has_scheme = match is not None and text[match.end() : match.end() + 1] == ":"
    if text.startswith(":"):
        return "missing protocol scheme"
    if not has_scheme and not text.startswith("/"):
        return "invalid URI for request"
    rest = text[match.end() + 1 :] if has_scheme and match is not None else text
    if has_scheme and not rest.startswith("/"):
        return ""
    if _BAD_ESCAPE.search(rest.partition("?")[0]):
        found = _BAD_ESCAPE.search(rest)
        assert found is not None
        return f"invalid URL escape {quote(rest[found.start() : found.start() + 3])}"
    if has_scheme and rest.startswith("//"):
        return _host_reason(rest[2:].partition("/")[0].partition("?")[0])
    return ""


def _host_reason(authority: str) -> str:
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        name, bracket, port = host.partition("]")
        if not bracket:
            return "missing ']' in host"
    else:
        name, colon, port = host.rpartition(":")
        name, port = (name, colon + port) if colon else (host, "")
        if ":" in name:
            return f"invalid port {quote(':' + host.partition(':')[2])} after host"
    if not _PORT.fullmatch(port):
        return f"invalid port {quote(port)} after host"
    bad = next((char for char in name if char in ' "<>\\^`{|}'), "")
    return f"invalid character {quote(bad)} in host name" if bad else ""


def _url(text: str) -> URLValue:
    reason = uri_error(text)
    if reason:
        raise CelRuntimeError(f"URL parse error during conversion from string: {reason}")
    return URLValue(text)


def _is_url(text: str) -> bool:
    return not uri_error(text)


def _scheme(value: URLValue) -> str:
    return value.scheme


def _host(value: URLValue) -> str:
    return value.host


def _port_split(value: URLValue) -> tuple[str, str]:
    host = value.host
    if host.startswith("["):
        name, _, port = host[1:].partition("]")
        return name, port.removeprefix(":")
    name, colon, port = host.rpartition(":")
    return (name, port) if colon else (host, "")


def _hostname(value: URLValue) -> str:
    return _port_split(value)[0]


def _port(value: URLValue) -> str:
    return _port_split(value)[1]


def _escaped_path(value: URLValue) -> str:
    return urllib.parse.quote(value.path, safe=_PATH_SAFE)


def _query(value: URLValue) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part in value.query.split("&"):
        if not part or ";" in part or _BAD_ESCAPE.search(part):
            continue
        name, _, text = part.partition("=")
        found.setdefault(urllib.parse.unquote_plus(name), []).append(urllib.parse.unquote_plus(text))
    return found


URLS = Library(
    (
        *with_cost(first_traversal, (function("url", "string_to_url", (STRING,), URL, _url),)),
        function("isURL", "is_url_string", (STRING,), BOOL, _is_url),
        member("getScheme", "url_get_scheme", (URL,), STRING, _scheme),
        member("getHost", "url_get_host", (URL,), STRING, _host),
        member("getHostname", "url_get_hostname", (URL,), STRING, _hostname),
        member("getPort", "url_get_port", (URL,), STRING, _port),
        member("getEscapedPath", "url_get_escaped_path", (URL,), STRING, _escaped_path),
        member("getQuery", "url_get_query", (URL,), map_of(STRING, list_of(STRING)), _query),
    ),
    (URL,),
)
