"""`ReconcileTracer`: interface for the spans of reconciles. `process/spans.py` has the implementation.

The manager gives it to its controllers, and sends its requests through `transport`.
"""

from contextlib import AbstractContextManager
from typing import Protocol

from sampan.client.transport import Transport
from sampan.operator.controller.context import ReconcileContext


class ReconcileTracer(Protocol):
    """Creates the spans of reconciles and of the requests that they send."""

    def reconcile(self, context: ReconcileContext) -> AbstractContextManager[None]:
        """Return the span of a reconcile. An exception that leaves the block is recorded."""
        ...

    def transport(self, inner: Transport) -> Transport:
        """Return a transport that creates the spans of requests, and sends their context to the server."""
        ...

    def trace_id(self) -> str:
        """Return the id of the current trace in hexadecimal digits; empty if there is none."""
        ...
