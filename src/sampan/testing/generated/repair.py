"""Repair of generated objects: the judge names the faulty fields, and these are made again or removed.

Rules in CEL, and rules that only the server has, relate fields to each other. So an object is repaired, not thrown
away: nearly every attempt ends with an object that the server accepts.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from sampan.core.field import ErrorType, FieldError
from sampan.core.object import Object
from sampan.patch.copying import copy_json
from sampan.schema.structural import Schema
from sampan.testing.generated.choices import Choices, Complete, Seeded, Smallest, pick
from sampan.testing.generated.required_fields import FIELDS, NAMELESS, NAMES
from sampan.testing.generated.selectors import fit_labels
from sampan.testing.generated.semantics import USUAL, Meanings
from sampan.testing.generated.subject import NAMESPACE, Subject
from sampan.testing.generated.values import Generator

_ROUNDS: Final = 12
_CANDIDATES: Final = 60
_JUDGED_MAX: Final = 150
"""Limit of attempts to repair one object: rules in CEL may take milliseconds."""
_SEEDS: Final = 60
_STEP: Final = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")
_SUPPORTED: Final = re.compile(r'"([^"]+)"')
"""Values in the text of a fault: `supported values: "A", "B"`."""
_NOWHERE: Final = "<nil>"
_NOT_GENERATED: Final = ("apiVersion", "kind", "metadata", "status")

Step = str | int
Place = tuple[Step, ...]
Change = Callable[[Object], None]


class NotGenerated(ValueError):
    """No valid object was found. The message has the faults of the object with the fewest faults."""


def smallest_object(subject: Subject, name: str = "", *, meanings: Meanings = USUAL) -> Object:
    """Return a valid object with few fields. Raises `NotGenerated`."""
    choices: Sequence[Choices] = (Smallest(), Complete(), *(Seeded(number) for number in range(_SEEDS)))
    nearest: Sequence[FieldError] = ()
    for each in choices:
        made = _framed(subject, _generated(subject, Generator(each, meanings)), name)
        faults = _repair(subject, made, None, each, meanings)
        if not faults:
            return made
        nearest = faults if not nearest or len(faults) < len(nearest) else nearest
    text = "; ".join(str(each) for each in nearest[:3])
    raise NotGenerated(f"{subject.kind}: found no valid object: {text}: add a meaning for the field, or a base object")


def generated_object(
    subject: Subject, choices: Choices, base: Object, *, meanings: Meanings = USUAL, size: int = 60
) -> Object:
    """Return an object that the server accepts.

    Parts of the valid object `base` replace parts that cannot be repaired.
    """
    for bound in (size, size // 4, size // 16):
        fields = _generated(subject, Generator(choices, meanings, bound))
        body = fields if subject.is_custom else _merged(fields, base)
        if not subject.is_custom:
            fit_labels(body)
        made = _framed(subject, body, base["metadata"].get("name", ""))
        if not _repair(subject, made, base, choices, meanings):
            return made
    copy: Object = copy_json(base)
    return copy


def _generated(subject: Subject, generator: Generator) -> Object:
    root = subject.schema
    fields = {name: child for name, child in root.properties.items() if name not in _NOT_GENERATED}
    required = root.validations.required if root.validations is not None else ()
    found = {}
    for name, child in fields.items():
        # An object without a spec is rarely of use.
        if name in required or (name == "spec" and subject.is_custom) or generator.choices.optional():
            found[name] = generator.value(child, name)
    return found


def _framed(subject: Subject, fields: Object, name: str) -> Object:
    """Return an object with its type and name, these fields, and the fields that its built-in kind needs."""
    key = (subject.definition.group, subject.kind)
    name = name or NAMES.get(key, "example")
    metadata = {
        **({} if key[0] in NAMELESS else {"name": name}),
        **({"namespace": NAMESPACE} if subject.definition.namespaced else {}),
    }
    needed = {} if subject.is_custom or key not in FIELDS else copy_json(FIELDS[key](name))
    body: Object = _merged(fields, needed)
    body.pop("status", None)
    return {"apiVersion": subject.api_version, "kind": subject.kind, **body, "metadata": metadata}


def _merged(first: Any, second: Any) -> Any:
    """Return the first value with the second one merged into it."""
    if isinstance(first, dict) and isinstance(second, dict):
        return {**first, **{key: _merged(first.get(key), value) for key, value in second.items()}}
    return copy_json(second)


def _repair(
    subject: Subject, obj: Object, base: Object | None, choices: Choices, meanings: Meanings
) -> Sequence[FieldError]:
    """Change an object in place until it is valid, or until no change helps. Return the faults that are left."""
    faults, calls_left = subject.faults(obj), _JUDGED_MAX
    for _ in range(_ROUNDS):
        if not faults or calls_left <= 0:
            break
        best = None
        for number, change in enumerate(_changes(subject, obj, base, faults, choices, meanings)):
            changed = copy_json(obj)
            change(changed)
            if changed == obj:
                continue
            left, calls_left = subject.faults(changed), calls_left - 1
            if best is None or len(left) < len(best[1]):
                best = (changed, left)
            if len(left) < len(faults) or number >= _CANDIDATES or calls_left <= 0:
                break
        if best is None:
            break
        obj.clear()
        obj.update(best[0])
        faults = best[1]
    return faults


def _changes(
    subject: Subject,
    obj: Object,
    base: Object | None,
    faults: Sequence[FieldError],
    choices: Choices,
    meanings: Meanings,
) -> Iterator[Change]:
    """Yield changes that may repair the first fault, the smallest change first."""
    place = place_of(obj, _path_of(faults[0]))
    if place and place[0] not in _NOT_GENERATED:
        yield from _named_changes(obj, faults[0], place, choices)
    while place and place[0] not in _NOT_GENERATED:
        places = [*_below(subject.schema, obj, place), place]
        if len(places) > 1:
            # A rule relates these fields: begin with a different one each time.
            first = choices.integer(0, len(places) - 2)
            places = [*places[first:-1], *places[:first], place]
        yield from (partial(remove, place=each) for each in places[:-1] if value_at(obj, each) is not None)
        for each in places:
            if base is not None and (found := value_at(base, each)) is not None:
                yield partial(put, place=each, value=found)
        for source in (choices, choices, Seeded(choices.integer(0, 1000))):
            for each in places:
                node = schema_at(subject.schema, each)
                name = next((str(step) for step in reversed(each) if isinstance(step, str)), "")
                if node is not None:
                    yield partial(put, place=each, value=Generator(source, meanings, 8).value(node, name))
        yield partial(remove, place=place)
        place = place[:-1]


def _named_changes(obj: Object, fault: FieldError, place: Place, choices: Choices) -> Iterator[Change]:
    """Yield the changes that the fault itself names."""
    if fault.type is ErrorType.FORBIDDEN:
        yield partial(remove, place=place)
    elif (
        fault.type is ErrorType.NOT_SUPPORTED
        and isinstance(value_at(obj, place), str)
        and (values := _SUPPORTED.findall(fault.detail))
    ):
        yield partial(put, place=place, value=pick(choices, values))


def _path_of(fault: FieldError) -> str:
    """Return the path of a fault.

    For `allOf`, `anyOf`, `oneOf` and `not`, the path is in quotes at the beginning of the text.
    """
    path = str(fault.field)
    if path not in ("", _NOWHERE):
        return path
    return fault.detail.split('"')[1] if fault.detail.startswith('"') else "spec"


def _below(schema: Schema, obj: Object, place: Place) -> Iterator[Place]:
    """Yield the places of the fields of an object, also of those that are not set."""
    value, node = value_at(obj, place), schema_at(schema, place)
    if isinstance(value, dict):
        for key in dict.fromkeys((*value, *(node.properties if node is not None else ()))):
            yield (*place, key)
            if isinstance(value.get(key), dict):
                yield from ((*place, key, below) for below in value[key])


def place_of(obj: Object, path: str) -> Place:
    """Return the steps of a field path (`spec.ports[0].name`). Keys of maps may contain dots."""
    found: list[Step] = []
    value: Any = obj
    for match in _STEP.finditer(path):
        word = match[1] if match[1] is not None else match[2]
        step: Step = int(word) if match[1] is None and isinstance(value, list) and word.isdigit() else word
        found.append(step)
        value = value_at({"": value}, ("", step))
    return tuple(found)


def value_at(obj: Any, place: Place) -> Any:
    """Return the value at a place, or None."""
    for step in place:
        is_item = isinstance(obj, list) and isinstance(step, int) and step < len(obj)
        if not is_item and not (isinstance(obj, dict) and step in obj):
            return None
        obj = obj[step]
    return obj


def schema_at(schema: Schema, place: Place) -> Schema | None:
    """Return the node of a place, or None."""
    found: Schema | None = schema
    for step in place:
        if found is None:
            return None
        if isinstance(step, int):
            found = found.items
        else:
            additional = found.additional_properties
            found = found.properties.get(step) or (additional if isinstance(additional, Schema) else None)
    return found


def put(obj: Object, place: Place, value: Any) -> None:
    """Set the value at a place; make the objects above it. Does nothing if the place is in a list that is too short."""
    target: Any = obj
    for step in place[:-1]:
        if isinstance(target, dict):
            if not isinstance(target.get(step), dict | list):
                target[step] = {}
            target = target[step]
        elif isinstance(target, list) and isinstance(step, int) and step < len(target):
            target = target[step]
        else:
            return
    last = place[-1]
    is_item = isinstance(target, list) and isinstance(last, int) and last < len(target)
    if is_item or isinstance(target, dict):
        target[last] = copy_json(value)


def remove(obj: Object, place: Place) -> None:
    """Remove the value at a place, if it exists."""
    parent = value_at(obj, place[:-1])
    last = place[-1]
    if isinstance(parent, dict):
        parent.pop(last, None)
    elif isinstance(parent, list) and isinstance(last, int) and last < len(parent):
        del parent[last]
