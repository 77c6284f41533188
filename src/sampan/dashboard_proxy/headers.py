"""Headers that pass between a browser and the cluster: lists of those that do, so all others are dropped.

A browser's cookies and credentials do not reach the cluster. The cluster's cookies, redirects and policies of its
origin do not reach the browser.
"""

from collections.abc import Mapping
from typing import Final

from sampan.core.errors import forbidden
from sampan.core.gvk import GroupResource
from sampan.server.dashboard.headers import FILE_POLICY
from sampan.server.request import Headers

_PASSED: Final = ("accept", "content-type", "if-match", "if-none-match")
_OF_WEBSOCKETS: Final = ("sec-websocket-key", "sec-websocket-version")
_PROTOCOLS: Final = "sec-websocket-protocol"
_BEARER: Final = "base64url.bearer.authorization.k8s.io."
"""Prefix of a WebSocket sub-protocol that carries a token."""
_RETURNED: Final = ("audit-id", "content-encoding", "etag", "retry-after", "vary", "warning")
_RETURNED_BY_WEBSOCKETS: Final = ("sec-websocket-accept", _PROTOCOLS)
_ACTING_AS: Final = ("authorization", "impersonate-", "x-remote-")
"""Prefixes of headers with which a client would act as another user."""
_ANOTHER_USER: Final = (
    "requests have the user of the kubeconfig; to act as another one, set `as` or another user there and start "
    "`sampan dashboard` again"
)


def check_user(headers: Mapping[str, str]) -> None:
    """Raise `StatusError` 403 if the request names a user: dropping the header would act as the wrong one."""
    protocols = headers.get(_PROTOCOLS, "")
    if any(name.startswith(_ACTING_AS) for name in headers) or _BEARER in protocols:
        raise forbidden(GroupResource("", "requests"), "", _ANOTHER_USER)


def to_cluster(headers: Mapping[str, str], *, websocket: bool) -> dict[str, str]:
    """Return the headers of a browser that the cluster gets."""
    passed = {name: headers[name] for name in _PASSED if name in headers}
    if not websocket:
        accepted = {each.strip() for each in headers.get("accept-encoding", "").lower().split(",")}
        return passed | ({"accept-encoding": "gzip"} if "gzip" in accepted else {})
    passed |= {name: headers[name] for name in (*_OF_WEBSOCKETS, _PROTOCOLS) if name in headers}
    return passed | {"connection": "Upgrade", "upgrade": "websocket"}


def to_browser(headers: Mapping[str, str]) -> Headers:
    """Return the headers of the cluster that a browser gets, and a policy: a browser never runs such a response."""
    return [*_named(_RETURNED, headers), FILE_POLICY]


def switched(headers: Mapping[str, str]) -> Headers:
    """Return those with which a browser gets a connection that is switched to WebSocket."""
    own = [(b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")]
    return [*own, *_named(_RETURNED_BY_WEBSOCKETS, headers)]


def _named(names: tuple[str, ...], headers: Mapping[str, str]) -> Headers:
    return [(name.title().encode(), headers[name].encode("latin-1", "replace")) for name in names if name in headers]
