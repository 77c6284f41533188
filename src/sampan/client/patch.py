"""Patches: bodies and media types.

    await networks.patch("net", MergePatch({"spec": {"cidr": "10.0.0.0/24"}}))

Source: apimachinery pkg/types/patch.go (1.36).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from sampan.core.json.values import same
from sampan.wire import json


class Patch(Protocol):
    """Change of an object."""

    @property
    def content_type(self) -> str:
        """Media type of the body; it selects the kind of patch."""
        ...

    def body(self) -> bytes:
        """Return the JSON. Raises `ValueError` if it cannot be encoded."""
        ...


@dataclass(frozen=True, slots=True)
class JsonPatch:
    """Operations in order (RFC 6902): `{"op": "test", "path": "/spec/x", "value": 1}`. All are applied, or none."""

    operations: Sequence[Mapping[str, Any]]
    content_type: ClassVar[str] = "application/json-patch+json"

    def body(self) -> bytes:
        """Return the list of operations as JSON."""
        return json.encode(list(self.operations))


@dataclass(frozen=True, slots=True)
class MergePatch:
    """Fields to set (RFC 7386): None deletes a field, maps are merged, lists are replaced."""

    fields: Mapping[str, Any]
    content_type: ClassVar[str] = "application/merge-patch+json"

    def body(self) -> bytes:
        """Return the fields as JSON."""
        return json.encode(self.fields)


@dataclass(frozen=True, slots=True)
class StrategicMergePatch:
    """Merge patch that merges lists by keys, which built-in kinds define. Not for custom resources."""

    fields: Mapping[str, Any]
    content_type: ClassVar[str] = "application/strategic-merge-patch+json"

    def body(self) -> bytes:
        """Return the fields as JSON."""
        return json.encode(self.fields)


@dataclass(frozen=True, slots=True)
class ApplyPatch:
    """Fields that a manager applies (server-side apply). Needs a field manager; see `ResourceClient.apply`."""

    fields: Mapping[str, Any]
    content_type: ClassVar[str] = "application/apply-patch+yaml"

    def body(self) -> bytes:
        """Return the fields as JSON, which is also YAML."""
        return json.encode(self.fields)


def merge_patch_between(old: Mapping[str, Any], new: Mapping[str, Any], *, optimistic_lock: bool = False) -> MergePatch:
    """Return the merge patch that turns `old` into `new`. Fields with None count as absent, as in the API.

    With `optimistic_lock`, the patch conflicts if the object has changed since `old` was read. Raises `ValueError` if
    `old` then has no resourceVersion.
    """
    fields = _difference(old, new)
    if optimistic_lock:
        version = (old.get("metadata") or {}).get("resourceVersion")
        if not version:
            raise ValueError("an optimistic lock needs the resourceVersion of the old object")
        fields["metadata"] = {**(fields.get("metadata") or {}), "resourceVersion": version}
    return MergePatch(fields)


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {key: None for key, value in old.items() if value is not None and new.get(key) is None}
    for key, value in new.items():
        before = old.get(key)
        if value is None or same(value, before):
            continue
        fields[key] = _difference(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return fields
