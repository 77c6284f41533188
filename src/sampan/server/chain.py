"""Order of the filters: the path of a request through the server, from top to bottom.

Source: apiserver pkg/server/config.go DefaultBuildHandlerChain (1.36).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sampan.server.audit.audit import Audit
from sampan.server.authentication.authenticator import Authenticator
from sampan.server.authentication.request_header import STANDARD_HEADERS, RequestHeaders
from sampan.server.authorization.authorizer import Authorizer
from sampan.server.filters.audit import failed_authentication, with_audit
from sampan.server.filters.audit_id import audit_id_hook
from sampan.server.filters.authentication import with_authentication
from sampan.server.filters.authorization import with_authorization
from sampan.server.filters.cache_control import cache_control_hook
from sampan.server.filters.cors import cors_hook
from sampan.server.filters.deadline import Deadlines
from sampan.server.filters.error_responses import with_error_responses
from sampan.server.filters.hsts import hsts_hook
from sampan.server.filters.impersonation import with_impersonation
from sampan.server.filters.observe import observe_hook
from sampan.server.filters.response_headers import response_headers_hook
from sampan.server.filters.retry_after import retry_after_hook
from sampan.server.filters.steps import steps_hook
from sampan.server.filters.tracing import Tracer, with_span, with_tracing
from sampan.server.filters.warnings import warnings_hook
from sampan.server.flow_control.max_in_flight import without_limits
from sampan.server.health.lifecycle import LifecycleSignals
from sampan.server.metrics.server import ServerMetrics
from sampan.server.request import Filter, Handler


@dataclass(frozen=True, slots=True)
class ChainParts:
    """Dependencies of the filters."""

    authenticator: Authenticator
    authorizer: Authorizer
    lifecycle: LifecycleSignals
    metrics: ServerMetrics
    deadlines: Deadlines
    clock: Callable[[], float]
    """Returns monotonic seconds, as the event loop does."""
    cors_allowed_origins: Sequence[str] = ()
    hsts_directives: Sequence[str] = ()
    request_headers: RequestHeaders = STANDARD_HEADERS
    """Names of the headers in which a front proxy passes the user."""
    flow_control: Filter = without_limits
    """Decides which requests run now."""
    audit: Audit | None = None
    """Records requests; None: no audit."""
    dashboard: Filter | None = None
    """Serves the dashboard's page, and finds the sessions of browsers; None: there is no dashboard."""
    tracer: Tracer | None = None
    """Collects spans; None: no tracing."""
    faults: Filter | None = None
    """Injects faults into authorized requests, in tests; None: none."""


def build_chain(route: Handler, parts: ChainParts) -> Handler:
    """Return the handler that passes requests through all filters to `route`."""
    filters: list[Filter] = [
        # These filters see every response. Between them and the filters below, errors become responses.
        with_error_responses(
            [
                audit_id_hook(),
                steps_hook(parts.clock),
                observe_hook(parts.metrics, parts.clock),
                cache_control_hook(),
                warnings_hook(),
                cors_hook(parts.cors_allowed_origins),
                hsts_hook(parts.hsts_directives),
                retry_after_hook(parts.lifecycle),
                response_headers_hook(),
            ]
        ),
        parts.deadlines.filter,
        *([parts.dashboard] if parts.dashboard is not None else []),
        with_authentication(
            parts.authenticator, parts.metrics.access, parts.request_headers, failed_authentication(parts.audit)
        ),
    ]
    known: dict[str, Filter] = {
        **({"audit": with_audit(parts.audit)} if parts.audit is not None else {}),
        "constrainedimpersonation": with_impersonation(parts.authorizer, parts.metrics.access.impersonation),
        "priorityandfairness": parts.flow_control,
        "authorization": with_authorization(parts.authorizer, parts.metrics.access),
    }
    if parts.faults is not None:
        route = parts.faults(route)
    if parts.tracer is None:
        return chain([*filters, *known.values()], route)
    spans = [with_span(name, filter_) for name, filter_ in known.items()]
    return chain([*filters, with_tracing(parts.tracer), *spans], route)


def chain(filters: Sequence[Filter], route: Handler) -> Handler:
    """Return the handler that passes requests through the filters, in this order, to `route`."""
    handler = route
    for filter_ in reversed(filters):
        handler = filter_(handler)
    return handler
