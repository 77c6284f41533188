"""Events about objects, as shown by `kubectl describe`."""

from sampan.operator.events.broadcaster import EventBroadcaster
from sampan.operator.events.correlator import EventCorrelator
from sampan.operator.events.event import Event, EventType
from sampan.operator.events.log_handler import EventLogHandler
from sampan.operator.events.recorder import EventRecorder
from sampan.operator.events.sink import CoreEventSink, EventSink, NewEventSink

__all__ = [
    "CoreEventSink",
    "Event",
    "EventBroadcaster",
    "EventCorrelator",
    "EventLogHandler",
    "EventRecorder",
    "EventSink",
    "EventType",
    "NewEventSink",
]
