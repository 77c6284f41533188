"""`Administration`: /dashboard/sessions, where administrators list and end the sessions of this server.

The path is authorized like other paths outside resources: a role must allow `get` and `delete` for it.
"""

from typing import Any, Final

from sampan.core.errors import method_not_allowed, not_found
from sampan.core.gvk import GroupResource
from sampan.server.dashboard.login import time_text
from sampan.server.dashboard.sessions import Session, Sessions
from sampan.server.request import Request, Response
from sampan.server.status import json_response

PATH: Final = "/dashboard/sessions"
_RESOURCE: Final = GroupResource("", "dashboard/sessions")


class Administration:
    """Handler of the path and of the paths of its sessions."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def handle(self, request: Request) -> Response:
        """List the sessions, or end one. Raises `StatusError`: 404, 405."""
        method, name = request.wire.method, request.wire.path.removeprefix(PATH).strip("/")
        sessions = self._sessions.all()
        if not name:
            if method != "GET":
                raise method_not_allowed()
            return json_response({"items": [self._shown(each, request) for each in sessions]})
        found = next((each for each in sessions if each.public_id == name), None)
        if found is None:
            raise not_found(_RESOURCE, name)
        if method == "GET":
            return json_response(self._shown(found, request))
        if method != "DELETE":
            raise method_not_allowed()
        self._sessions.end(found)
        return Response(204, content_type="")

    def _shown(self, session: Session, request: Request) -> dict[str, Any]:
        return {
            "id": session.public_id,
            "user": session.user.name,
            "login": session.credentials.way,
            "began": time_text(session.began),
            "lastUsed": time_text(session.used),
            "expires": time_text(session.expires),
            "idleExpires": time_text(self._sessions.idle_expires(session)),
            "address": session.address,
            "userAgent": session.agent,
            "current": session is request.session,
        }
