"""`LoginRecords`: audit events and metrics of logins, failed logins and logouts; audit events of links to ports.

These requests pass no audit filter, because they have no user yet. Their events have the user of the session.
"""

from typing import Final

import msgspec

from sampan.core.errors import StatusError
from sampan.server.audit.audit import RESPONSE_COMPLETE, Audit
from sampan.server.instruments.histogram import Counter
from sampan.server.request import Request, UserInfo

ANNOTATION: Final = "dashboard.sampan.dev/login"
"""Annotation of the audit event: `token`, `link`, `oidc`, `certificate`, or `logout`."""
PORT_ANNOTATION: Final = "dashboard.sampan.dev/port"
"""Annotation of the audit event of a link to a port: the path of the subresource `proxy`."""
SUCCESS, FAILURE, LIMITED = "success", "failure", "limited"


class LoginRecords:
    """Records of one server."""

    def __init__(self, audit: Audit | None) -> None:
        self._audit = audit
        self.attempts = Counter(
            "sampan_dashboard_logins_total",
            "Logins to the dashboard by method and result; logouts have the method logout.",
            ("method", "result"),
        )

    async def succeeded(self, request: Request, method: str, user: UserInfo, code: int) -> None:
        """Record a login or a logout of the user."""
        self.attempts.add((method, SUCCESS))
        await self._write(request, method, user, code, "Success", "")

    async def failed(self, request: Request, method: str, error: StatusError) -> None:
        """Record a login that failed. One that was not tried is only counted, so that a flood fills no log."""
        if error.code == 429:
            self.attempts.add((method, LIMITED))
            return
        self.attempts.add((method, FAILURE))
        await self._write(request, method, None, error.code, "Failure", error.message)

    async def port(self, request: Request, path: str, user: UserInfo, error: StatusError | None = None) -> None:
        """Record a link to a port, or its refusal. `path` is that of the subresource."""
        if error is None:
            await self._write(request, path, user, 201, "Success", "", PORT_ANNOTATION)
        else:
            await self._write(request, path, user, error.code, "Failure", error.message, PORT_ANNOTATION)

    async def _write(
        self,
        request: Request,
        value: str,
        user: UserInfo | None,
        code: int,
        status: str,
        message: str,
        annotation: str = ANNOTATION,
    ) -> None:
        if self._audit is None:
            return
        # The query of a callback has the issuer's code.
        wire = msgspec.structs.replace(request.wire, query_string="", query={})
        shown = msgspec.structs.replace(request, wire=wire, user=user, annotations={annotation: value})
        context = self._audit.begin(shown)
        if context is not None:
            context.status(code, status, message)
            await self._audit.reached(context, RESPONSE_COMPLETE)
