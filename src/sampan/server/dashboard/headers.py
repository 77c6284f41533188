"""Headers of the dashboard's responses."""

from typing import Final

from sampan.server.request import Headers
from sampan.server.status import NOSNIFF

NO_STORE: Final = (b"Cache-Control", b"no-store")
_DENIED: Final = (
    "accelerometer",
    "autoplay",
    "camera",
    "clipboard-read",
    "display-capture",
    "encrypted-media",
    "geolocation",
    "gyroscope",
    "hid",
    "idle-detection",
    "local-fonts",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "publickey-credentials-get",
    "screen-wake-lock",
    "serial",
    "usb",
    "xr-spatial-tracking",
)
_PERMISSIONS: Final = ", ".join([*(f"{name}=()" for name in _DENIED), "clipboard-write=(self)"])
COMMON: Final[Headers] = [
    NOSNIFF,
    (b"Referrer-Policy", b"no-referrer"),
    (b"Cross-Origin-Opener-Policy", b"same-origin"),
    (b"Cross-Origin-Resource-Policy", b"same-origin"),
    (b"Cross-Origin-Embedder-Policy", b"require-corp"),
    (b"Permissions-Policy", _PERMISSIONS.encode()),
    (b"X-Frame-Options", b"DENY"),
]
"""Headers of the page, of its files and of its sessions."""
TO_SESSIONS: Final = (
    NO_STORE,
    NOSNIFF,
    (b"Cross-Origin-Resource-Policy", b"same-origin"),
)
"""Headers of the API's responses to sessions: a browser keeps none of them after the logout."""


def page_policy(nonce: str) -> tuple[bytes, bytes]:
    """Return the Content-Security-Policy of the page. `nonce` allows the style elements of its libraries."""
    policy = (
        "default-src 'none'",
        "script-src 'self'",
        f"style-src 'self' 'nonce-{nonce}'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        # Its one policy permits the address of the worker that arranges graphs, and no other script.
        "trusted-types sampan-worker",
    )
    return b"Content-Security-Policy", "; ".join(policy).encode()


FILE_POLICY: Final = (b"Content-Security-Policy", b"default-src 'none'; frame-ancestors 'none'; sandbox")
"""Policy of responses that are no page."""
