"""Audit id of each request: that of the client or a new UUID. The response contains it too.

Source: apiserver pkg/endpoints/filters/audit_init.go (1.36).
"""

import itertools
import secrets
from collections.abc import Callable

from sampan.server.filters.hook import HandlerHook
from sampan.server.request import Request, Response

_TWELVE_DIGITS = 1 << 44
"""Smallest number with twelve hexadecimal digits."""


def audit_id_hook() -> HandlerHook:
    """Return a hook that sets `request.audit_id` and the `Audit-Id` header of the response."""
    fresh = audit_ids()

    def before(request: Request) -> None:
        request.audit_id = request.headers.get("audit-id") or fresh()

    def after(request: Request, response: Response) -> None:
        response.headers.append((b"Audit-Id", request.audit_id.encode("latin-1")))

    return HandlerHook(before, after)


def audit_ids() -> Callable[[], str]:
    """Return a generator function of UUIDs.

    Each UUID is a random prefix and a counter, because a random UUID for each request would cost 2 µs. The counter
    has twelve digits from the start, so they need no padding.
    """
    text = secrets.token_hex(10)
    prefix = f"{text[:8]}-{text[8:12]}-4{text[12:15]}-a{text[15:18]}-"
    counter = itertools.count(_TWELVE_DIGITS + secrets.randbits(40))

    def fresh() -> str:
        return prefix + hex(next(counter))[2:]

    return fresh
