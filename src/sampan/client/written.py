"""`WRITE_OBSERVER`: callback for the responses to writes, for programs that record which objects they have written."""

from collections.abc import Callable
from contextvars import ContextVar

WriteObserver = Callable[[str, str, bytes], None]
"""Receives the method, the path and the body of a successful response. It must return quickly and raise nothing."""

WRITE_OBSERVER: ContextVar[WriteObserver | None] = ContextVar("sampan_write_observer", default=None)
"""Observer of the writes of this context, without dry runs."""
