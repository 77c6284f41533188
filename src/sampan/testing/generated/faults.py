"""Faults of generated objects: their places, the values that they name, and changes for all of them at once."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Final

from sampan.core.field import ErrorType, FieldError
from sampan.core.go_text import NIL
from sampan.core.object import Object
from sampan.schema.structural import Schema
from sampan.testing.generated.choices import Choices, pick
from sampan.testing.generated.framing import NOT_GENERATED
from sampan.testing.generated.places import Place, place_of, put, remove, schema_at, value_at
from sampan.testing.generated.subject import Subject

_SUPPORTED: Final = re.compile(r'"([^"]*)"')
"""Values in the text of a fault: `supported values: "A", "B"`."""


def path_of(fault: FieldError) -> str:
    """Return the path of a fault.

    For `allOf`, `anyOf`, `oneOf` and `not`, the path is in quotes at the beginning of the text.
    """
    path = str(fault.field)
    if path not in ("", NIL):
        return path
    return fault.detail.split('"')[1] if fault.detail.startswith('"') else "spec"


def supported(fault: FieldError) -> Sequence[str]:
    """Return the values that the fault names as supported."""
    return _SUPPORTED.findall(fault.detail) if fault.type is ErrorType.NOT_SUPPORTED else ()


def fault_place(subject: Subject, obj: Object, fault: FieldError) -> Place:
    """Return the place of a faulty value.

    Some faults of a text name the object that has it: the place is that of its only text.
    """
    place = place_of(obj, path_of(fault))
    value = value_at(obj, place)
    if fault.type is ErrorType.NOT_SUPPORTED and isinstance(value, dict):
        texts = [name for name, each in value.items() if isinstance(each, str) and each not in supported(fault)]
        if len(texts) == 1:
            return (*place, texts[0])
    return place


def applied(subject: Subject, obj: Object, faults: Sequence[FieldError], base: Object, choices: Choices) -> bool:
    """Change a value for each fault: take a supported one or that of the valid object, or else remove it.

    Return True if something changed.
    """
    changes = {}
    for fault in faults:
        place = fault_place(subject, obj, fault)
        values = supported(fault)
        if not place or place[0] in NOT_GENERATED:
            continue
        if values and isinstance(value_at(obj, place), str):
            changes[place] = partial(put, obj, place, pick(choices, values))
            continue
        if value_at(obj, place) is None or (fault.type is ErrorType.REQUIRED and not value_at(obj, place)):
            place = place[:-1]
        while place and is_required(subject.schema, place):
            place = place[:-1]
        if not place:
            continue
        known = value_at(base, place)
        changes[place] = partial(remove, obj, place) if known is None else partial(put, obj, place, known)
    # Items of a list move when an earlier one is removed: begin with the last one.
    for place in sorted(changes, key=lambda each: [(isinstance(step, int), step) for step in each], reverse=True):
        changes[place]()
    return bool(changes)


def is_required(schema: Schema, place: Place) -> bool:
    """Return True if the schema requires the field at a place."""
    parent = schema_at(schema, place[:-1])
    return parent is not None and parent.validations is not None and place[-1] in parent.validations.required
