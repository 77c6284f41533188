"""System metadata: the fields that only the server sets.

Source: apiserver pkg/registry/rest/{meta,create,update}.go (1.36).
"""

import os
from typing import Any

from sampan.core import errors
from sampan.core.object import Object
from sampan.core.time import Clock, timestamp
from sampan.registry.definition import ResourceDefinition

ORPHAN_FINALIZER = "orphan"
FOREGROUND_FINALIZER = "foregroundDeletion"
_OF_SERVER = frozenset({"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "uid"})


def new_uid() -> str:
    """Return a random UUID (version 4). This takes a third of the time of `uuid.uuid4`."""
    text = os.urandom(16).hex()
    variant = "89ab"[int(text[16], 16) & 3]
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-{variant}{text[17:20]}-{text[20:]}"


def metadata_of(obj: Object) -> dict[str, Any]:
    """Return the metadata dict. Create it if it is missing."""
    metadata = obj.get("metadata")
    if metadata is None:
        metadata = obj["metadata"] = {}
    result: dict[str, Any] = metadata
    return result


def wipe_system_fields(metadata: dict[str, Any]) -> None:
    """Remove the fields of a new object that only the server sets."""
    for name in _OF_SERVER.intersection(metadata):
        del metadata[name]


def fill_system_fields(metadata: dict[str, Any], clock: Clock) -> None:
    """Set the identity of a new object. Values from the client or from mutating admission are overwritten."""
    wipe_system_fields(metadata)
    metadata["uid"] = new_uid()
    metadata["creationTimestamp"] = timestamp(clock)


def match_namespace(definition: ResourceDefinition, namespace: str, metadata: dict[str, Any]) -> None:
    """Set the namespace to the request's namespace. Raises 400 if the object has another namespace."""
    expected = namespace if definition.namespaced else ""
    given = metadata.get("namespace", "")
    if given == expected:
        return
    if given and not expected:
        metadata.pop("namespace")
        return
    if given:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    metadata["namespace"] = expected


def match_name(name: str, metadata: dict[str, Any]) -> None:
    """Set the name to the name in the URL. Raises 400 if the object has another name or none."""
    given = metadata.get("name", "")
    if not given:
        raise errors.bad_request(
            f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )
    if given != name:
        raise errors.bad_request(f"the name of the object ({given}) does not match the name on the URL ({name})")


def is_deleting(obj: Object) -> bool:
    """Return True if deletion was requested."""
    return bool(obj["metadata"].get("deletionTimestamp"))
