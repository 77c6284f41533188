"""`background`: marks timers of periodic work that never ends, such as the renewal of a lease.

A test in virtual time waits until nothing is left to do. Such timers do not keep it waiting.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

IS_BACKGROUND: ContextVar[bool] = ContextVar("sampan_background", default=False)
"""True while timers that are set belong to the background, also in tasks that start there."""


@contextmanager
def background() -> Iterator[None]:
    """Mark the timers that are set in the block, and in tasks that start in it."""
    token = IS_BACKGROUND.set(True)
    try:
        yield
    finally:
        IS_BACKGROUND.reset(token)
