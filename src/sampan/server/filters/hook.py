"""`Hook`: a filter that never waits. All hooks run in one coroutine, as one each would cost more than they do."""

from collections.abc import Callable
from typing import NamedTuple

from sampan.server.request import Request, Response

Before = Callable[[Request], Response | None]
"""Looks at a request on its way in; a `Response` answers it at once. Raises `StatusError` to refuse it."""
After = Callable[[Request, Response], None]
"""Looks at every answer on its way out, errors included, and may change it."""


class Hook(NamedTuple):
    """What to do before and after."""

    before: Before | None = None
    after: After | None = None
