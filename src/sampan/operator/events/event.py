"""`Event`: one thing that happened, before it is an object of the API."""

import datetime as dt
import uuid
from dataclasses import dataclass
from typing import Any, Final, Literal

from sampan.core.names import dns1123_subdomain_errors
from sampan.informer.ref import Ref
from sampan.operator.object_kind import object_kind
from sampan.resource import meta

EventType = Literal["Normal", "Warning"]

_NOTE_BYTES_MAX: Final = 1024


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """Which object."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str = ""
    resource_version: str = ""
    field_path: str = ""
    """Which part of it: `spec.containers{main}`."""

    def to_dict(self) -> dict[str, str]:
        """As `v1.ObjectReference`."""
        said = {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
            "resourceVersion": self.resource_version,
            "fieldPath": self.field_path,
        }
        return {name: value for name, value in said.items() if value}


def reference_to(obj: Any) -> ObjectReference:
    """The reference to a dict object, one of a declared kind, or a cache's record. Raises `ValueError`, `TypeError`."""
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
    """One thing that happened."""

    controller: str
    instance: str
    regarding: ObjectReference
    type: EventType
    reason: str
    """Why, in one word for programs: `NetworkCreated`."""
    action: str
    """What was done, in one word: `Create`."""
    note: str
    """A sentence for people."""
    time: dt.datetime
    related: ObjectReference | None = None
    host: str = ""
    """The node that it comes from, where that is of interest."""

    @property
    def namespace(self) -> str:
        """Where the object of the API is: with what it regards; for what is of no namespace in `default`."""
        return self.regarding.namespace or "default"

    def spam_key(self) -> tuple[object, ...]:
        """Whose events are counted together against spam."""
        return self.controller, self.instance, self._regarded(), self.type

    def aggregate_key(self) -> tuple[object, ...]:
        """Which events differ by nothing but the note."""
        return *self.spam_key(), self.reason, self.action

    def key(self) -> tuple[object, ...]:
        """Which events are the same."""
        return *self.aggregate_key(), self.regarding.field_path, self.note, self.related

    def _regarded(self) -> tuple[str, ...]:
        ref = self.regarding
        return ref.api_version, ref.kind, ref.namespace, ref.name, ref.uid


def event_name(regarding: ObjectReference, nanoseconds: int) -> str:
    """A name for the object of the API: the regarded one's and the time, where that is a valid name."""
    name = f"{regarding.name}.{nanoseconds:x}"
    return str(uuid.uuid4()) if dns1123_subdomain_errors(name) else name


def shortened(note: str) -> str:
    """What the API takes for a note: 1 kB at most."""
    body = note.encode()
    if len(body) <= _NOTE_BYTES_MAX:
        return note
    return body[: _NOTE_BYTES_MAX - 3].decode(errors="ignore") + "..."
