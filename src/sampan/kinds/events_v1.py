"""Types of events/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import core_v1, meta_v1


class Event(TypedDict, total=False):
    """Object of the resource `events` in a namespace."""

    action: str
    apiVersion: Required[Literal["events.k8s.io/v1"]]
    deprecatedCount: int
    deprecatedFirstTimestamp: meta_v1.Time
    deprecatedLastTimestamp: meta_v1.Time
    deprecatedSource: core_v1.EventSource
    eventTime: Required[meta_v1.MicroTime]
    kind: Required[Literal["Event"]]
    metadata: Required[meta_v1.ObjectMeta]
    note: str
    reason: str
    regarding: core_v1.ObjectReference
    related: core_v1.ObjectReference
    reportingController: str
    reportingInstance: str
    series: EventSeries
    type: str


class EventList(TypedDict, total=False):
    """Response with a list of `Event`."""

    apiVersion: Required[Literal["events.k8s.io/v1"]]
    items: Required[list[Event]]
    kind: Required[Literal["EventList"]]
    metadata: Required[meta_v1.ListMeta]


class EventSeries(TypedDict, total=False):
    """Type of `Event.series`."""

    count: Required[int]
    lastObservedTime: Required[meta_v1.MicroTime]


GROUP_VERSION: Final = GroupVersion("events.k8s.io", "v1")

RESOURCES: Final = {
    "Event": ("events", True),
}
"""Resources by their kinds, and True if they are in namespaces."""
