"""Ownership across the scale subresource: `spec.replicas` of a Scale is a field of the scaled object.

Source: apimachinery pkg/util/managedfields/scalehandler.go (1.36).
"""

from collections.abc import Mapping, Sequence

from sampan.patch.fieldset import FieldSet, difference, has, of_path
from sampan.patch.managed_entries import Entry, Identity, identity, in_order, make_entry, with_fields

Mappings = Mapping[str, tuple[str, ...] | None]
"""Where a scaled object keeps its replicas, by apiVersion, as path elements (`("f:spec", "f:replicas")`); None: no
scale subresource in that version."""

_SCALE_VERSION = "autoscaling/v1"
_REPLICAS = ("f:spec", "f:replicas")


def path_elements(dotted: str) -> tuple[str, ...]:
    """A dotted path (`spec.replicas`, with or without a leading dot) as path elements."""
    return tuple(f"f:{name}" for name in dotted.removeprefix(".").split("."))


def to_scale(entries: Sequence[Entry], mappings: Mappings) -> list[Entry]:
    """The managedFields of the Scale of an object with these managedFields: who owns its replicas."""
    found = []
    for entry in entries:
        path = mappings.get(entry["apiVersion"])
        if path is not None and has(entry["fieldsV1"], *path):
            who = _at_scale(identity(entry))
            found.append(make_entry(who, _SCALE_VERSION, entry.get("time"), of_path(*_REPLICAS)))
    return in_order(found)


def to_parent(parent: Sequence[Entry], scale: Sequence[Entry], *, api_version: str, mappings: Mappings) -> list[Entry]:
    """The managedFields of the scaled object after a write to its Scale.

    `parent` are those before the write, `scale` those of the written Scale, `api_version` that in which new entries
    speak of the object. Entries of versions that are not in `mappings` are dropped.
    """
    owners = {identity(entry): entry for entry in scale}
    kept: list[Entry] = []
    for entry in parent:
        if entry["apiVersion"] not in mappings:
            continue
        path = mappings[entry["apiVersion"]]
        fields: FieldSet = entry["fieldsV1"]
        if path is not None and has(fields, *path) and owners.pop(_at_scale(identity(entry)), None) is None:
            fields = difference(fields, of_path(*path))
            if not fields:
                continue
            entry = with_fields(entry, fields)
        kept.append(entry)
    own_path = mappings.get(api_version)
    if own_path is not None:
        fields = of_path(*own_path)
        kept.extend(
            make_entry(who, api_version, entry.get("time"), fields)
            for who, entry in owners.items()
            if has(entry["fieldsV1"], *_REPLICAS)
        )
    return in_order(kept)


def _at_scale(who: Identity) -> Identity:
    """The identity that an entry of the scaled object has among those of its Scale."""
    manager, operation, version, subresource = who
    return (manager, operation, _SCALE_VERSION if version else "", subresource)
