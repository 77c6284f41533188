"""A fault in the server ends one request, not the server; its trace goes to the log and never to the client."""

import logging

from sampan.core.errors import StatusError, internal_error
from sampan.server.request import Handler, Request, Response
from sampan.server.status import status_response

_log = logging.getLogger("sampan.server")

PANIC_MESSAGE = "This request caused apiserver to panic. Look in the logs for details."


def with_panic_recovery(handler: Handler) -> Handler:
    """Answer 500 for every exception that no filter below has turned into an answer."""

    async def filter_(request: Request) -> Response:
        try:
            return await handler(request)
        except Exception as error:
            return failure_response(request, error)

    return filter_


def failure_response(request: Request, error: Exception) -> Response:
    """What the client learns of an error: all of a `StatusError`, nothing of anything else."""
    if isinstance(error, StatusError):
        return status_response(error)
    _log.error(
        "request failed",
        exc_info=error,
        extra={"method": request.method, "path": request.path, "audit_id": request.audit_id},
    )
    return status_response(internal_error(PANIC_MESSAGE))
