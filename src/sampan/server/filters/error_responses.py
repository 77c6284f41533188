"""Outermost filter: runs the hooks around all other filters, and converts errors to responses.

An internal error ends one request, not the server. Its traceback is logged and never sent to the client.
"""

import logging
from collections.abc import Sequence

from sampan.core.errors import Reason, StatusError, internal_error, request_entity_too_large, too_large_resource_version
from sampan.core.tracebacks import forget_frames
from sampan.server.filters.hook import HandlerHook
from sampan.server.incoming import ClientGone
from sampan.server.request import NOT_COUNTED, Filter, Handler, Request, Response
from sampan.server.status import status_response
from sampan.storage.store import (
    FutureRevision,
    OutcomeUnknown,
    StoreDamaged,
    StoreFull,
    StoreUnavailable,
    StoreUnreachable,
    Untransformable,
    ValueTooLarge,
)

_log = logging.getLogger("sampan.server")

STORE_RETRY_AFTER_S = 5
PANIC_MESSAGE = "This request caused apiserver to panic. Look in the logs for details."


def with_error_responses(hooks: Sequence[HandlerHook]) -> Filter:
    """Return a filter that runs each `before` in order, the handler, and each `after` in reverse order.

    All exceptions except cancellation become responses.
    """
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
            except Exception as error:
                request.abandoned = isinstance(error, ClientGone)
                status_error = status_error_of(error)
                response = (
                    status_response(status_error, request) if status_error is not None else _fault(request, error)
                )
                del status_error
                forget_frames(error)
            for after in afters:
                after(request, response)
            return response

        return filter_

    return wrap


def status_error_of(error: BaseException) -> StatusError | None:
    """Return the error for the client, or None if it is an internal error."""
    if isinstance(error, StatusError):
        return error
    if isinstance(error, StoreUnavailable):
        return _unavailable(error)
    if isinstance(error, FutureRevision):
        return too_large_resource_version(error.revision, error.current_revision)
    if isinstance(error, ValueTooLarge):
        return request_entity_too_large(str(error))
    if isinstance(error, Untransformable | ConnectionResetError):
        return internal_error(str(error))
    return _unknown(error) if isinstance(error, OutcomeUnknown) else None


def _unavailable(error: StoreUnavailable) -> StatusError:
    """Return 503 for a temporary failure of the store. Nothing was written, and clients retry after some seconds.

    A full or damaged store needs an administrator. As with an etcd without space, its error has no Retry-After: kubectl
    would retry for 50 seconds before it shows the message.
    Source: apiserver pkg/endpoints/handlers/responsewriters/status.go, ErrorToAPIStatus (1.36).
    """
    if isinstance(error, StoreFull | StoreDamaged):
        return StatusError(Reason.UNKNOWN, 500, str(error))
    if isinstance(error, StoreUnreachable):
        text = f"the store cannot be reached: {error}"
    else:
        text = f"the store cannot be written: {error}; reads continue"
    return StatusError(Reason.SERVICE_UNAVAILABLE, 503, text, details={"retryAfterSeconds": STORE_RETRY_AFTER_S})


def _unknown(error: OutcomeUnknown) -> StatusError:
    """Return 504 without Retry-After.

    The write may have succeeded. A client that retries automatically would mistake its own write for that of another
    client.
    """
    text = f"the store did not confirm the write in time; check the object before you retry: {error}"
    return StatusError(Reason.TIMEOUT, 504, text)


def _fault(request: Request, error: Exception) -> Response:
    _log.error(
        "request failed",
        exc_info=error,
        extra={"method": request.wire.method, "path": request.wire.path, "audit_id": request.audit_id},
    )
    request.counted = NOT_COUNTED
    return status_response(internal_error(PANIC_MESSAGE), request)
