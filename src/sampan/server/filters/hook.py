"""`HandlerHook`: a filter that never waits. All hooks run in one coroutine, because a coroutine for each would cost
more than the hook.
"""

from collections.abc import Callable
from typing import NamedTuple

from sampan.server.request import Request, Response

Before = Callable[[Request], Response | None]
"""Called before the handler. May return a `Response` instead of the handler. Raises `StatusError` to refuse the
request.
"""
After = Callable[[Request, Response], None]
"""Called after the handler with every response, including errors. May change it."""


class HandlerHook(NamedTuple):
    """Functions that run before and after the handler."""

    before: Before | None = None
    after: After | None = None
