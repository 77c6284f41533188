"""A browser of a test: keeps the cookie of its session, and sends what browsers send."""

from typing import Any

from sampan.server.request import UserInfo
from tests.server.cluster import Api, ApiResponse

HOST = "127.0.0.1:6443"
COOKIE = "__Host-sampan-6443"
SESSION = "/dashboard/session"
PODS = "/api/v1/namespaces/default/pods"
ADMIN = UserInfo("admin", groups=("system:masters",))
PAGE = {"host": HOST, "sec_fetch_site": "same-origin", "x_sampan_page": "1"}
"""Headers of a request of the page's scripts."""
NAVIGATION = {"host": HOST, "sec_fetch_site": "none", "sec_fetch_mode": "navigate"}


class Browser:
    """Browser with an empty cookie jar."""

    def __init__(self, api: Api) -> None:
        self.api = Api(api.server, {}, api.connections)
        self.cookie = ""

    async def fetch(self, method: str, target: str, body: Any = b"", **headers: str) -> ApiResponse:
        """Send a request with the cookie. Without `headers`: those of the page."""
        sent = headers or PAGE
        reply = await self.api.fetch(method, target, body, **({"cookie": self.cookie} if self.cookie else {}), **sent)
        for name, value in reply.response.headers:
            if name == b"Set-Cookie":
                self.cookie = value.decode().partition(";")[0]
        return reply

    async def get(self, target: str, **headers: str) -> ApiResponse:
        """GET."""
        return await self.fetch("GET", target, **headers)

    async def log_in(self, token: str = "jane-token") -> "Browser":
        """Log in with a token."""
        reply = await self.fetch("POST", SESSION, {"token": token})
        assert reply.code == 201, reply.body
        return self

    @property
    def value(self) -> str:
        """Return the value of the cookie."""
        return self.cookie.partition("=")[2]


def header(reply: ApiResponse, name: str) -> str:
    """Return a header of a response; empty if there is none."""
    found = [value.decode() for key, value in reply.response.headers if key.decode().lower() == name]
    return "; ".join(found)
