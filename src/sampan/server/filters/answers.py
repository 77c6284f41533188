"""The outermost filter: runs the hooks around everything else, and turns errors into answers between the two.

A fault in the server ends one request, not the server; its trace goes to the log and never to the client.
"""

import logging
from collections.abc import Sequence

from sampan.core.errors import StatusError, internal_error
from sampan.server.filters.hook import Hook
from sampan.server.request import Filter, Handler, Request, Response
from sampan.server.status import status_response

_log = logging.getLogger("sampan.server")

PANIC_MESSAGE = "This request caused apiserver to panic. Look in the logs for details."


def with_answers(hooks: Sequence[Hook]) -> Filter:
    """Run each `before` in order, the handler, and each `after` in reverse. Only cancellation gets through."""
    befores = tuple(hook.before for hook in hooks if hook.before is not None)
    afters = tuple(hook.after for hook in reversed(hooks) if hook.after is not None)

    def wrap(handler: Handler) -> Handler:
        async def filter_(request: Request) -> Response:
            try:
                for before in befores:
                    response = before(request)
                    if response is not None:
                        break
                else:
                    response = await handler(request)
            except StatusError as error:
                response = status_response(error)
            except Exception as error:
                response = _fault(request, error)
            for after in afters:
                after(request, response)
            return response

        return filter_

    return wrap


def _fault(request: Request, error: Exception) -> Response:
    _log.error(
        "request failed",
        exc_info=error,
        extra={"method": request.method, "path": request.path, "audit_id": request.audit_id},
    )
    return status_response(internal_error(PANIC_MESSAGE))
