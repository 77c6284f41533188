"""The order of the filters: a request's way through the server, read from top to bottom.

Source: apiserver pkg/server/config.go DefaultBuildHandlerChain (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sampan.server.authentication.authenticator import Authenticator
from sampan.server.authorization.authorizer import Authorizer
from sampan.server.filters.audit_id import with_audit_id
from sampan.server.filters.authentication import with_authentication
from sampan.server.filters.authorization import with_authorization
from sampan.server.filters.cache_control import with_cache_control
from sampan.server.filters.compression import with_compression
from sampan.server.filters.cors import with_cors
from sampan.server.filters.deadline import Deadlines
from sampan.server.filters.errors import with_errors
from sampan.server.filters.http_log import with_http_log
from sampan.server.filters.metrics import with_metrics
from sampan.server.filters.recovery import with_panic_recovery
from sampan.server.filters.request_info import with_request_info
from sampan.server.filters.retry_after import with_retry_after
from sampan.server.filters.warnings import with_warnings
from sampan.server.lifecycle import Lifecycle
from sampan.server.metrics import ServerMetrics
from sampan.server.request import Filter, Handler


@dataclass(frozen=True, slots=True)
class ChainParts:
    """What the filters need."""

    authenticator: Authenticator
    authorizer: Authorizer
    lifecycle: Lifecycle
    metrics: ServerMetrics
    deadlines: Deadlines
    cors_allowed_origins: Sequence[str] = ()


def build_chain(route: Handler, parts: ChainParts) -> Handler:
    """`route` behind all filters."""
    filters: list[Filter] = [
        # These see every answer, errors included.
        with_audit_id,
        with_panic_recovery,
        with_http_log(),
        with_metrics(parts.metrics),
        with_compression,
        with_cache_control,
        with_warnings,
        with_cors(parts.cors_allowed_origins),
        # Errors become answers here.
        with_errors,
        # These refuse requests. Audit, impersonation, and priority and fairness stand between the last two.
        with_request_info,
        with_retry_after(parts.lifecycle),
        parts.deadlines.filter,
        with_authentication(parts.authenticator),
        with_authorization(parts.authorizer),
    ]
    return chain(filters, route)


def chain(filters: Sequence[Filter], route: Handler) -> Handler:
    """Put `route` behind the filters, the first one outermost."""
    handler = route
    for filter_ in reversed(filters):
        handler = filter_(handler)
    return handler
