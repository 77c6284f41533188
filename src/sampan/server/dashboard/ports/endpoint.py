"""`PortEndpoint`: /dashboard/ports, where a page requests a link to a port of a Pod or a Service.

The link is authorized when it is made, so that the page can show the reason of a refusal. This grants nothing: each
request below the link is authorized again.
"""

import re
from typing import Any, Final

import orjson

from sampan.core.errors import (
    StatusError,
    bad_request,
    forbidden,
    method_not_allowed,
    unauthorized,
    unsupported_media_type,
)
from sampan.core.gvk import GroupResource
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.authorization.forbidden import forbidden_error
from sampan.server.dashboard.authenticator import CredentialVerifier
from sampan.server.dashboard.headers import COMMON, FILE_POLICY, NO_STORE
from sampan.server.dashboard.login import time_text
from sampan.server.dashboard.login_records import LoginRecords
from sampan.server.dashboard.origin import is_from_page
from sampan.server.dashboard.ports.links import LinkedPort, PortLinks
from sampan.server.dashboard.sessions import Session
from sampan.server.request import Request, Response, UserInfo
from sampan.server.request_info import parse_target

PATH: Final = "/dashboard/ports"
_BODY_BYTES_MAX: Final = 4 << 10
_PORTS: Final = GroupResource("", "dashboard/ports")
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


class PortEndpoint:
    """Handler of the path."""

    def __init__(
        self, links: PortLinks, verifier: CredentialVerifier, authorizer: Authorizer, records: LoginRecords
    ) -> None:
        self._links = links
        self._verifier = verifier
        self._authorizer = authorizer
        self._records = records

    async def handle(self, request: Request) -> Response:
        """Return a new link. Raises `StatusError`: 400, 401, 403, 405, 413, 415."""
        if request.wire.method != "POST":
            raise method_not_allowed()
        if not is_from_page(request):
            raise forbidden(_PORTS, "", "only the dashboard's page may send this request")
        session = request.session
        if not isinstance(session, Session) or session.ended:
            raise unauthorized()
        if not request.headers.get("content-type", "").startswith("application/json"):
            raise unsupported_media_type("the body must be application/json")
        if any(name.startswith("impersonate-") for name in request.headers):
            raise bad_request("a link to a port cannot be opened for another user")
        port = _port_of(await request.wire.read_body(_BODY_BYTES_MAX))
        user = await self._verifier.verify(request, session.credentials)
        try:
            await self._authorize(user, port)
        except StatusError as error:
            await self._records.port(request, port.path, user, error)
            raise
        if session.ended:
            raise unauthorized()
        path, link = self._links.create(session, port, request.wire.client_address)
        await self._records.port(request, port.path, user)
        body = orjson.dumps({"path": path, "expires": time_text(min(link.expires, session.expires))})
        return Response(201, body, headers=[*COMMON, FILE_POLICY, NO_STORE])

    async def _authorize(self, user: UserInfo, port: LinkedPort) -> None:
        """Raise `StatusError` 403 if the user may not send GET to the port."""
        info = parse_target("GET", f"{port.path}/".encode()).info
        verdict = await self._authorizer.authorize(user, info)
        if verdict.decision is not Decision.ALLOW:
            raise forbidden_error(user, info, verdict.reason)


def _port_of(body: bytes) -> LinkedPort:
    """Return the port that a body describes. **Raises** `StatusError` 400."""
    try:
        found: Any = orjson.loads(body)
    except ValueError:
        raise bad_request("the body is not JSON") from None
    match found:
        case {
            "namespace": str(namespace),
            "resource": "pods" | "services" as resource,
            "name": str(name),
            "port": int(number),
            "scheme": "http" | "https" as scheme,
            **more,
        } if not more and not isinstance(number, bool):
            if _NAME.fullmatch(namespace) and _NAME.fullmatch(name) and 0 < number < 65536:
                return LinkedPort(namespace, resource, name, number, scheme)
    raise bad_request(
        'the body must be {"namespace": …, "resource": "pods" or "services", "name": …, "port": NUMBER, '
        '"scheme": "http" or "https"}'
    )
