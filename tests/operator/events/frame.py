"""Events about one config map."""

import datetime as dt
from typing import Any

from sampan.operator.events import Event
from sampan.operator.events.event import ObjectReference

NOON = dt.datetime(2026, 1, 2, 12, tzinfo=dt.UTC)
MAP = ObjectReference("v1", "ConfigMap", "default", "a", "u1")


class Clock:
    """Always noon."""

    def now(self) -> dt.datetime:
        return NOON


def event(note: str = "made", *, seconds: float = 0.0, **fields: Any) -> Event:
    headers = {"type": "Normal", "reason": "Made", "action": "Create", "regarding": MAP, **fields}
    return Event("network", "network-1", note=note, time=NOON + dt.timedelta(seconds=seconds), **headers)
