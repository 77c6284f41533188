"""Events, which have one stored form and two APIs. core/v1 is stored; events.k8s.io/v1 is converted.

Source: pkg/registry/core/event/strategy.go, pkg/apis/core/validation/events.go, pkg/apis/events/v1/conversion.go
(1.36).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, TypedDict

from sampan.core.field import FieldError, Path, invalid, required
from sampan.core.object import Object
from sampan.core.validation.names import dns1123_subdomain_errors, path_segment_errors, qualified_name_errors
from sampan.kinds import core_v1
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import EMPTY, Cell, at, column, name_of
from sampan.registry.definition import Column
from sampan.registry.kind import Kind, KindVersion
from sampan.registry.kinds.core.event_conversion import EventConversion
from sampan.registry.old_versions.core import event
from sampan.registry.rules.semantics import same
from sampan.registry.strategy import Context, Strategy

Errors = list[FieldError]
TTL_S = 3600
"""Retention of events, in seconds."""
_INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_NO_MATCH = "does not match event.namespace"
_UNSET = "needs to be unset"
_IMMUTABLE = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "reason",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
)
_SHOWN_AS = {"reportingComponent": "reportingController"}


class _Source(TypedDict, total=False):
    component: str


class _Part(TypedDict, total=False):
    """Fields that field selectors read."""

    involvedObject: dict[str, str] | None
    reason: str
    reportingComponent: str
    source: _Source | None
    type: str


class EventStrategy(Strategy):
    """Strategy of events that are written in core/v1."""

    has_generation = False
    standard_finalizers = False
    allow_create_on_update = True
    default_propagation = "Unsupported"
    labels: ClassVar[Sequence[str]] = (
        *(f"involvedObject.{name}" for name in _INVOLVED),
        "reason",
        "reportingComponent",
        "source",
        "type",
    )
    controller_field: ClassVar[str] = "reportingComponent"

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return path_segment_errors(name, prefix=prefix)

    def default(self, obj: Object) -> None:
        """Set the fields that are always written, even if empty."""
        for name in ("involvedObject", "source"):
            if name not in obj:
                obj[name] = {}
        for name in ("reportingComponent", "reportingInstance"):
            if name not in obj:
                obj[name] = ""

    def check(self, ctx: Context, obj: core_v1.Event, errors: Errors) -> None:
        check_legacy(obj, errors, self.controller_field)

    def ttl_s(self, obj: core_v1.Event) -> int:
        return TTL_S

    selectable_part: ClassVar[Any] = _Part

    def selectable_fields(self, obj: core_v1.Event) -> dict[str, str]:
        involved: Mapping[str, Any] = obj.get("involvedObject") or {}
        fields = {f"involvedObject.{name}": involved.get(name, "") for name in _INVOLVED}
        reporting = obj.get("reportingComponent", "")
        fields["reason"] = obj.get("reason", "")
        fields["reportingComponent"] = reporting
        fields["source"] = (obj.get("source") or {}).get("component") or reporting
        fields["type"] = obj.get("type", "")
        return fields


class NewEventStrategy(EventStrategy):
    """Strategy of events that are written in events.k8s.io/v1, in core/v1 form.

    Its rules are stricter, and most fields are immutable.
    """

    standard_finalizers = True
    controller_field: ClassVar[str] = "reportingController"
    field_label_aliases: ClassVar[dict[str, str]] = {
        **{f"regarding.{name}": f"involvedObject.{name}" for name in _INVOLVED},
        "reportingController": "reportingComponent",
    }

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return dns1123_subdomain_errors(name, prefix=prefix)

    def field_labels(self, api_version: str) -> frozenset[str]:
        own = ["reason", "type", "reportingController", *(f"regarding.{name}" for name in _INVOLVED)]
        return frozenset([*own, "metadata.name", "metadata.namespace"])

    def check(self, ctx: Context, obj: core_v1.Event, errors: Errors) -> None:
        check_legacy(obj, errors, self.controller_field)
        _check_series(obj, errors)
        if not obj.get("eventTime"):
            errors.append(required(Path("eventTime")))
        kind = obj.get("type", "")
        if kind not in ("Normal", "Warning"):
            errors.append(invalid(Path("type"), "", f"has invalid value: {kind}"))
        errors.extend(
            invalid(Path(name), "", _UNSET) for name in ("firstTimestamp", "lastTimestamp", "count") if obj.get(name)
        )
        source = obj.get("source") or {}
        if source.get("component") or source.get("host"):
            errors.append(invalid(Path("source"), "", _UNSET))

    def check_update(self, ctx: Context, obj: core_v1.Event, old: core_v1.Event, errors: Errors) -> None:
        check_legacy(obj, errors, self.controller_field)
        if not same(obj.get("series"), old.get("series")):
            _check_series(obj, errors)
        for name in _IMMUTABLE:
            if not same(obj.get(name) or None, old.get(name) or None):
                at = Path(_SHOWN_AS.get(name, name))
                errors.append(invalid(at, obj.get(name, ""), "field is immutable"))


def _check_series(event: core_v1.Event, errors: Errors) -> None:
    series = event.get("series")
    if series is None:
        return
    if series.get("count", 0) < 2:
        errors.append(invalid(Path("series.count"), "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        errors.append(required(Path("series.lastObservedTime")))


def check_legacy(event: core_v1.Event, errors: Errors, controller_field: str) -> None:
    """Check the rules of both APIs. Fields that were introduced with eventTime are checked only if it is set."""
    namespace = event["metadata"].get("namespace", "")
    involved = (event.get("involvedObject") or {}).get("namespace", "")
    at = Path("involvedObject", "namespace")
    if not event.get("eventTime"):
        if namespace != involved if involved else namespace not in ("", "default"):
            errors.append(invalid(at, involved, _NO_MATCH))
    else:
        if not involved and namespace not in ("default", "kube-system"):
            errors.append(invalid(at, involved, _NO_MATCH))
        _check_reporting(event, errors, controller_field)
    for text in dns1123_subdomain_errors(namespace):
        errors.append(invalid(Path("namespace"), namespace, text))


def _check_reporting(event: core_v1.Event, errors: Errors, controller_field: str) -> None:
    controller = event.get("reportingComponent", "")
    if not controller:
        errors.append(required(Path(controller_field)))
    errors.extend(invalid(Path(controller_field), controller, text) for text in qualified_name_errors(controller))
    for name in ("reportingInstance", "action", "reason"):
        value = event.get(name, "")
        if not value:
            errors.append(required(Path(name)))
        elif len(value.encode()) > 128:
            errors.append(invalid(Path(name), "", "can have at most 128 characters"))
    if len(event.get("message", "").encode()) > 1024:
        errors.append(invalid(Path("message"), "", "can have at most 1024 characters"))


def _target(event: core_v1.Event) -> str:
    involved = event.get("involvedObject", EMPTY)
    kind = involved.get("kind", "").lower()
    return f"{kind}/{involved['name']}" if involved.get("name") else kind


def _source(event: core_v1.Event) -> str:
    source = event.get("source", EMPTY)
    component = source.get("component") or event.get("reportingComponent", "")
    instance = source.get("host") or event.get("reportingInstance", "")
    return f"{component}, {instance}" if instance else component


def _count(event: core_v1.Event) -> int:
    series = event.get("series")
    if series is not None:
        return int(series.get("count", 0))
    return event.get("count") or 1


def _columns(ages: Ages) -> tuple[Column, ...]:
    def first_seen(event: core_v1.Event) -> str:
        return ages.since(event.get("firstTimestamp") or event.get("eventTime"))

    def last_seen(event: core_v1.Event) -> str:
        series = event.get("series")
        if series is not None:
            return ages.since(series.get("lastObservedTime"))
        return ages.since(event.get("lastTimestamp") or event.get("firstTimestamp") or event.get("eventTime"))

    return (
        column("Last Seen", last_seen),
        column("Type", at("type")),
        column("Reason", at("reason")),
        column("Object", _target),
        column("Subobject", at("involvedObject", "fieldPath"), wide=True),
        column("Source", _source, wide=True),
        column("Message", lambda event: event.get("message", "").strip()),
        column("First Seen", first_seen, wide=True),
        column("Count", _count, wide=True),
        column("Name", name_of, wide=True, format="name"),
    )


def _converted(cell: Cell) -> Cell:
    to_hub = EventConversion().to_hub
    return lambda event: cell(to_hub(dict(event)))


def _converted_columns(ages: Ages) -> tuple[Column, ...]:
    return tuple(replace(column, cell=_converted(column.cell)) for column in _columns(ages))


KINDS: Final = (
    Kind("", "events", EventStrategy(), columns=_columns),
    Kind(
        "events.k8s.io",
        "events",
        NewEventStrategy(),
        old_versions={"events.k8s.io/v1beta1": event},
        columns=_converted_columns,
        versions={"v1": KindVersion(conversion=EventConversion())},
        storage_group="",
    ),
)
