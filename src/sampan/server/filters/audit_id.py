"""Every request has an audit id: the client's own, or a fresh UUID; the answer repeats it.

Source: apiserver pkg/endpoints/filters/audit_init.go (1.36).
"""

from random import getrandbits

from sampan.server.request import Handler, Request, Response

_VERSION_4 = (0x4 << 76) | (0x8 << 60)
_RANDOM_BITS = ~((0xF << 76) | (0xC << 60)) & ((1 << 128) - 1)


def with_audit_id(handler: Handler) -> Handler:
    """Set `request.audit_id` and the `Audit-Id` header."""

    async def filter_(request: Request) -> Response:
        audit_id = request.headers.get("audit-id") or new_audit_id()
        request.audit_id = audit_id
        response = await handler(request)
        response.headers.append((b"Audit-Id", audit_id.encode("latin-1")))
        return response

    return filter_


def new_audit_id() -> str:
    """A random UUID; its randomness is no secret, so that it need not come from the system."""
    text = f"{getrandbits(128) & _RANDOM_BITS | _VERSION_4:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
