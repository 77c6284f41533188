"""The outermost filter: runs the hooks around everything else, and turns errors into answers between the two.

A fault in the server ends one request, not the server; its trace goes to the log and never to the client.
"""

import logging
from collections.abc import Sequence

from sampan.core.errors import Reason, StatusError, internal_error, request_entity_too_large, too_large_resource_version
from sampan.server.filters.hook import Hook
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
            except Exception as error:
                request.abandoned = isinstance(error, ClientGone)
                told = status_error_of(error)
                response = status_response(told, request) if told is not None else _fault(request, error)
            for after in afters:
                after(request, response)
            return response

        return filter_

    return wrap


def status_error_of(error: BaseException) -> StatusError | None:
    """What the client is told of an error; None: it is a fault of the server's."""
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
    """503 for a fault that may pass soon: nothing was written, and clients retry after some seconds by themselves.

    A full or damaged store stays so until an administrator acts. Its error has no Retry-After, as with an etcd without
    space: kubectl would wait for 50 seconds before it shows the message.
    Source: apiserver pkg/endpoints/handlers/responsewriters/status.go, ErrorToAPIStatus (1.36).
    """
    if isinstance(error, StoreFull | StoreDamaged):
        return StatusError(Reason.UNKNOWN, 500, str(error))
    if isinstance(error, StoreUnreachable):
        text = f"the store cannot be reached: {error}"
    else:
        text = f"the store cannot be written: {error}; reads go on"
    return StatusError(Reason.SERVICE_UNAVAILABLE, 503, text, details={"retryAfterSeconds": STORE_RETRY_AFTER_S})


def _unknown(error: OutcomeUnknown) -> StatusError:
    """504, without a time to try again: clients that do so by themselves would take their own write for another's."""
    text = f"the store did not say in time whether it wrote, look before you try again: {error}"
    return StatusError(Reason.TIMEOUT, 504, text)


def _fault(request: Request, error: Exception) -> Response:
    _log.error(
        "request failed",
        exc_info=error,
        extra={"method": request.method, "path": request.path, "audit_id": request.audit_id},
    )
    request.counted = NOT_COUNTED
    return status_response(internal_error(PANIC_MESSAGE), request)
