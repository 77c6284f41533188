"""Audit filter: records requests before and after all filters that follow authentication.

Source: apiserver pkg/endpoints/filters/{audit,authn_audit}.go (1.36).
"""

import asyncio
from collections.abc import Awaitable, Callable

from sampan.core.errors import unauthorized
from sampan.core.event_loop.offload import note_size, offloaded
from sampan.server.audit.audit import PANIC, RESPONSE_COMPLETE, RESPONSE_STARTED, Audit
from sampan.server.audit.context import AuditContext
from sampan.server.filters.error_responses import status_error_of
from sampan.server.request import Filter, Handler, Request, Response

_EARLY = "Connection closed early"
_LATE = "request did not complete within the allotted timeout"


def with_audit(audit: Audit) -> Filter:
    """Return a filter that records the audit events of requests that the policy selects."""

    def wrap(handler: Handler) -> Handler:
        async def filter_(request: Request) -> Response:
            context = audit.begin(request)
            if context is None:
                return await handler(request)
            await audit.received(context)
            response = await _audited_response(audit, context, request, handler)
            if response.stream is None and response.takeover is None:
                await audit.reached(context, RESPONSE_COMPLETE)
                return response
            if request.wire.long_running:
                await audit.reached(context, RESPONSE_STARTED)
            response.at_end(lambda: audit.ended(context))
            return response

        return filter_

    return wrap


async def _audited_response(audit: Audit, context: AuditContext, request: Request, handler: Handler) -> Response:
    """Return the handler's response after `context` has recorded it. Record an exception as the last event."""
    try:
        response = await handler(request)
        note_size(response.size_bytes)
        await offloaded(context.record_response, response)
        return response
    except BaseException as error:
        await audit.reached(context, _failed(context, request, error))
        raise


def _failed(context: AuditContext, request: Request, error: BaseException) -> str:
    """Record an exception in `context`. Return the audit stage that it leads to."""
    status_error = status_error_of(error)
    if status_error is not None:
        context.refused(status_error)
    elif isinstance(error, Exception):
        context.status(500, "Failure", f"APIServer panic'd: {error}", "InternalError")
        return PANIC
    elif request.deadline and asyncio.get_running_loop().time() >= request.deadline:
        context.status(504, "Failure", _LATE, "Timeout")
    else:
        context.status(200, "Success", _EARLY)
    return RESPONSE_COMPLETE


def failed_authentication(audit: Audit | None) -> Callable[[Request], Awaitable[None]] | None:
    """Return a function that records a request with failed authentication as one event of the stage ResponseStarted."""
    if audit is None:
        return None

    async def failed(request: Request) -> None:
        context = audit.begin(request)
        if context is not None:
            context.refused(unauthorized())
            await audit.reached(context, RESPONSE_STARTED)

    return failed
