"""An informer's handler that only wants to know that something has changed."""

from collections.abc import Callable
from typing import Any

from sampan.informer.handler import EventHandlerFuncs


def changes(changed: Callable[[], None]) -> EventHandlerFuncs[Any]:
    """Calls `changed` at every event."""
    return EventHandlerFuncs(
        add=lambda ref: changed(), update=lambda old, new: changed(), delete=lambda deletion: changed()
    )
