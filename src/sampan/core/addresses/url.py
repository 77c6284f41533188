"""`split_url`: URLs of settings, objects and other servers, refused where Go's `url.Parse` refuses them.

`urllib.parse.urlsplit` removes line breaks and tabs from a URL without an error, and accepts spaces and other
characters in the host. A URL that is stored or configured must be the URL that is requested, so it is checked first.

Source: Go net/url url.go Parse, parseAuthority, parseHost (1.26).
"""

import re
from ipaddress import IPv6Address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from sampan.core.field import quote

_CONTROL: Final = re.compile(r"[\0-\x1f\x7f]")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_USER: Final = re.compile(r"[-A-Za-z0-9._:~!$&'()*+,;=%@]*")
_NOT_HOST: Final = re.compile(r"[^-A-Za-z0-9._~!$&'()*+,;=:\[\]<>\"%\x80-\U0010ffff]")
_PORT: Final = re.compile(r"(:[0-9]*)?")


def split_url(url: str) -> SplitResult:
    """Return the parts of a URL. **Raises** `ValueError` with Go's reason, also for a port above 65535."""
    fault = _fault(url.partition("#")[0])
    if fault:
        raise ValueError(fault)
    parts = urlsplit(url)
    _ = parts.port
    return parts


def parse_error(url: str, error: ValueError) -> str:
    """Return the text of Go's error for a URL that `split_url` has refused."""
    return f"parse {quote(url.partition('#')[0])}: {error}"


def _fault(url: str) -> str:
    """Return why the URL is invalid, or ""."""
    if _CONTROL.search(url):
        return "net/url: invalid control character in URL"
    if url.startswith(":"):
        return "missing protocol scheme"
    scheme = _SCHEME.match(url)
    rest = (url[scheme.end() :] if scheme else url).partition("?")[0]
    if not rest.startswith("/"):
        # With a scheme, the rest is opaque.
        is_ambiguous = scheme is None and ":" in rest.partition("/")[0]
        return "first path segment in URL cannot contain colon" if is_ambiguous else ""
    authority, path = "", rest
    if rest.startswith("//") and (scheme is not None or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
    return _authority_fault(authority) or _escape_fault(path)


def _authority_fault(authority: str) -> str:
    user, _, host = authority.rpartition("@")
    fault = _host_fault(host)
    if fault:
        return fault
    return _escape_fault(user) if _USER.fullmatch(user) else "net/url: invalid userinfo"


def _host_fault(host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        return "invalid IP-literal"
    if bracket == 0:
        return _literal_fault(host)
    name, colon, port = host.partition(":")
    if _PORT.fullmatch(colon + port) is None:
        return f"invalid port {quote(colon + port)} after host"
    return _name_fault(name)


def _literal_fault(host: str) -> str:
    address, closing, port = host[1:].rpartition("]")
    if not closing:
        return "missing ']' in host"
    if _PORT.fullmatch(port) is None:
        return f"invalid port {quote(port)} after host"
    try:
        IPv6Address(address.replace("%25", "%"))
    except ValueError:
        return f"invalid host: ParseAddr({quote(address)}): unable to parse IP"
    return ""


def _name_fault(name: str) -> str:
    wrong = _NOT_HOST.search(name)
    if wrong is not None:
        return f"invalid character {quote(wrong[0])} in host name"
    # Only characters outside of ASCII may be escaped in a host.
    escaped = re.search(r"%(?![89A-Fa-f][0-9A-Fa-f]|25).{0,2}", name)
    return "" if escaped is None else f"invalid URL escape {quote(escaped[0])}"


def _escape_fault(text: str) -> str:
    wrong = _ESCAPE.search(text)
    return "" if wrong is None else f"invalid URL escape {quote(wrong[0])}"
