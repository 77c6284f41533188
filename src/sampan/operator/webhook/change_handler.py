"""Informer handler that only reports that something has changed."""

from collections.abc import Callable
from typing import Any

from sampan.informer.handler import EventHandlerFuncs


def changes(changed: Callable[[], None]) -> EventHandlerFuncs[Any]:
    """Return a handler that calls `changed` for every event."""
    return EventHandlerFuncs(
        add=lambda ref: changed(), update=lambda old, new: changed(), delete=lambda deletion: changed()
    )
