"""`Event`: one occurrence, before it becomes an object of the API."""

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.informer.ref import Ref
from sampan.operator.object_kind import object_kind
from sampan.resource import meta

EventType = Literal["Normal", "Warning"]

_NOTE_BYTES_MAX: Final = 1024


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """Object that an Event is about, or related to."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str = ""
    resource_version: str = ""
    field_path: str = ""
    """Part of the object: `spec.containers{main}`."""

    def to_dict(self) -> dict[str, str]:
        """Return the reference as `v1.ObjectReference`."""
        values = {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
            "resourceVersion": self.resource_version,
            "fieldPath": self.field_path,
        }
        return {name: value for name, value in values.items() if value}


def reference_to(obj: Any) -> ObjectReference:
    """Return a reference to a dict, an object of a declared kind, or a `Ref`. Raises `ValueError`, `TypeError`."""
    if isinstance(obj, ObjectReference):
        return obj
    if isinstance(obj, Ref):
        info = obj.object_type.info
        return ObjectReference(info.api_version, info.kind, obj.namespace, obj.name, obj.uid, obj.resource_version)
    api_version, kind = object_kind(obj)
    metadata = meta(obj)
    return ObjectReference(
        api_version, kind, metadata.namespace, metadata.name, metadata.uid, metadata.resource_version
    )


@dataclass(frozen=True, slots=True)
class Event:
    """One occurrence."""

    controller: str
    instance: str
    regarding: ObjectReference
    type: EventType
    reason: str
    """Reason in one word, for programs: `NetworkCreated`."""
    action: str
    """Action in one word: `Create`."""
    note: str
    """Sentence for people."""
    time: dt.datetime
    related: ObjectReference | None = None
    host: str = ""
    """Node of the event, if it is relevant."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Annotations of the Event object, for programs."""

    @property
    def namespace(self) -> str:
        """Namespace of the Event object: that of the regarding object, or `default` for cluster-scoped objects."""
        return self.regarding.namespace or "default"

    def spam_key(self) -> tuple[object, ...]:
        """Key of events that count together as spam."""
        return self.controller, self.instance, self._regarded(), self.type

    def aggregate_key(self) -> tuple[object, ...]:
        """Key of events that differ only in the note."""
        return *self.spam_key(), self.reason, self.action

    def key(self) -> tuple[object, ...]:
        """Key of identical events."""
        return *self.aggregate_key(), self.regarding.field_path, self.note, self.related

    def _regarded(self) -> tuple[str, ...]:
        ref = self.regarding
        return ref.api_version, ref.kind, ref.namespace, ref.name, ref.uid


def event_name(regarding: ObjectReference, nanoseconds: int) -> str:
    """Return a name for the Event object.

    It consists of the regarding object's name and the time. If that name is invalid, it is a UUID.
    """
    name = f"{regarding.name}.{nanoseconds:x}"
    return str(uuid.uuid4()) if dns1123_subdomain_errors(name) else name


def shortened(note: str) -> str:
    """Return the note within the API's limit of 1 kB."""
    body = note.encode()
    if len(body) <= _NOTE_BYTES_MAX:
        return note
    return body[: _NOTE_BYTES_MAX - 3].decode(errors="ignore") + "..."
