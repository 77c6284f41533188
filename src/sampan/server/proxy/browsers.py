"""Protection of the dashboard's sessions from what this server proxies.

A proxied page comes from the same origin as the API. Without a sandbox, its scripts could send requests with the
session of its reader. The sandbox gives the page another origin. A browser then sends none of this
server's cookies with its requests, and refuses it cookies and storage.

Other clients ignore the header. The cookies of sessions reach no upstream, and no upstream can set one.
"""

import re
from collections.abc import Mapping
from typing import Final

from sampan.server.request import Headers

COOKIE_PREFIX: Final = "__Host-sampan"
"""Beginning of the names of this server's cookies."""
SANDBOX: Final = (b"Content-Security-Policy", b"sandbox allow-scripts allow-forms allow-popups")
"""Browsers enforce it in addition to the policies of the upstream, which therefore cannot weaken it."""
_OWN_COOKIE: Final = re.compile(r"[\s=]*" + re.escape(COOKIE_PREFIX), re.IGNORECASE)
_OWN_SET_COOKIE: Final = re.compile(rb"[\s=]*" + re.escape(COOKIE_PREFIX.encode()), re.IGNORECASE)
_WHOLE_ORIGIN: Final = frozenset(
    {
        b"alt-svc",
        b"clear-site-data",
        b"nel",
        b"public-key-pins",
        b"public-key-pins-report-only",
        b"report-to",
        b"service-worker-allowed",
        b"set-cookie",
        b"set-cookie2",
        b"strict-transport-security",
    }
)
"""Headers that change how a browser treats the whole origin: they would change the API and the dashboard too."""


_OF_THE_RESPONSE: Final = frozenset(
    {
        b"cache-control",
        b"cross-origin-embedder-policy",
        b"cross-origin-opener-policy",
        b"cross-origin-resource-policy",
        b"expires",
        b"pragma",
        b"referrer-policy",
    }
)
"""Headers of an upstream that those of a link of the dashboard replace."""


def without_sessions(cookies: str) -> str:
    """Return a `Cookie` header without this server's cookies; empty if no other cookies remain."""
    if COOKIE_PREFIX.lower() not in cookies.lower():
        return cookies
    return ";".join(pair for pair in cookies.split(";") if not _OWN_COOKIE.match(pair)).strip()


def is_browser(headers: Mapping[str, str]) -> bool:
    """Return True for a request of a browser: with its metadata, which scripts cannot change, or with a session."""
    return "sec-fetch-site" in headers or COOKIE_PREFIX.lower() in headers.get("cookie", "").lower()


def harmless(headers: Headers, *, to_browser: bool, linked: bool = False) -> Headers:
    """Return the headers of an upstream's response without those that set a session.

    `to_browser`: without any header for the whole origin. `linked`: without those that a link of the dashboard
    replaces.
    """
    dropped = (_WHOLE_ORIGIN if to_browser else frozenset[bytes]()) | (_OF_THE_RESPONSE if linked else frozenset())
    return [
        (name, value)
        for name, value in headers
        if name.lower() not in dropped and not (name.lower() == b"set-cookie" and _OWN_SET_COOKIE.match(value))
    ]
