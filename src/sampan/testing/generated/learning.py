"""Learning: judged objects give the rules of a built-in kind that its schema does not have.

One object has all fields, so a single judgement names the supported values of most of them. Random objects then show
which fields are never accepted. Without these lessons most objects need repair, which takes longer than all else.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import orjson

from sampan.core.field import ErrorType, FieldError
from sampan.core.object import Object
from sampan.schema.structural import Schema
from sampan.testing.generated.choices import Choices, Complete, Seeded
from sampan.testing.generated.faults import applied, fault_place, supported
from sampan.testing.generated.framing import NOT_GENERATED, framed_object
from sampan.testing.generated.lessons import ITEM, Key, Lessons, refused_later
from sampan.testing.generated.places import Place, schema_at, value_at
from sampan.testing.generated.subject import Subject
from sampan.testing.generated.values.semantics import Meanings

_JUDGEMENTS: Final = 6
_COMPLETE_SIZE: Final = 1500
_SEEDS: Final = 60
_SEEDED_SIZE: Final = 40
_OFTEN: Final = 3
"""So many refusals without an exception make a lesson."""
_MISSED: Final = 0.8
"""A field is required if it is missed in this share of the objects without it. Other faults may hide this one."""
_MEMBER: Final = re.compile(r"more than 1 ")
"""Text of a fault of one member of a union."""
_UNION: Final = re.compile(r"more than one |(must specify|specifying) (a|one of|exactly one)\b|exactly one")
"""Text of a fault of a union."""
_LEARNED: Final[dict[tuple[Schema, Meanings, bytes], Lessons]] = {}


def lessons_of(subject: Subject, base: Object, meanings: Meanings) -> Lessons:
    """Return the lessons of a kind, which are learned once. `base` is a valid object."""
    key = (subject.schema, meanings, orjson.dumps(base))
    if key not in _LEARNED:
        _LEARNED[key] = _Learning(subject, base, meanings).lessons()
    return _LEARNED[key]


class _Learning:
    def __init__(self, subject: Subject, base: Object, meanings: Meanings) -> None:
        self._subject, self._base, self._meanings = subject, base, meanings
        self._values: dict[Key, Sequence[Any]] = {}
        self._required: dict[Schema, list[str]] = {}
        self._unions: set[Schema] = set()
        self._never = set(refused_later(subject.kind, subject.schema))

    def lessons(self) -> Lessons:
        """Judge generated objects until one is valid. Return what the errors show about the values of fields."""
        obj = self._made(Complete(), _COMPLETE_SIZE)
        for _ in range(_JUDGEMENTS):
            faults = self._subject.faults(obj)
            self._learn(faults, obj)
            if not faults or not applied(self._subject, obj, faults, self._base, Complete()):
                break
        for number in range(_SEEDS):
            obj = self._made(Seeded(number), _SEEDED_SIZE)
            self._learn(self._subject.faults(obj), obj)
        self._count(range(_SEEDS, 2 * _SEEDS))
        self._count(range(2 * _SEEDS, 3 * _SEEDS))
        return self._known()

    def _known(self) -> Lessons:
        return Lessons(self._values, self._never, self._required, self._unions)

    def _made(self, choices: Choices, size: int) -> Object:
        return framed_object(self._subject, choices, self._base, self._meanings, size, self._known())

    def _learn(self, faults: Sequence[FieldError], obj: Object) -> None:
        """Learn supported values and unions."""
        for fault in faults:
            place = fault_place(self._subject, obj, fault)
            if not place or place[0] in NOT_GENERATED:
                continue
            value, values = value_at(obj, place), supported(fault)
            if values and isinstance(value, str):
                if (key := self._field(place)) is not None:
                    self._values[key] = values
            elif _MEMBER.search(fault.detail) or _UNION.search(fault.detail):
                node = schema_at(self._subject.schema, place[:-1] if _MEMBER.search(fault.detail) else place)
                node = node.items if node is not None and node.items is not None else node
                if node is not None and len(node.properties) > 1:
                    self._unions.add(node)

    def _count(self, seeds: range) -> None:
        """Find the fields that are refused whenever they are present, and those that are missed whenever absent."""
        objects: Counter[Schema] = Counter()
        present: Counter[Key] = Counter()
        refused: Counter[Key] = Counter()
        missed: Counter[Key] = Counter()
        for number in seeds:
            obj = self._made(Seeded(number), _SEEDED_SIZE)
            for node, each in _objects(self._subject.schema, obj):
                objects[node] += 1
                present.update((node, name) for name, value in each.items() if value not in ("", [], {}))
            faults = self._subject.faults(obj)
            missing = {fault_place(self._subject, obj, each) for each in faults if each.type is ErrorType.REQUIRED}
            wrong = {_own_field(fault_place(self._subject, obj, each)) for each in faults}
            missed.update(self._keys(place for place in missing if not value_at(obj, place)))
            refused.update(self._keys(place for place in wrong if value_at(obj, place)))
        self._never |= {key for key, count in refused.items() if count >= max(_OFTEN, present[key])}
        for (node, name), count in missed.items():
            if count >= max(_OFTEN, _MISSED * (objects[node] - present[node, name])) and name in node.properties:
                self._required.setdefault(node, []).append(name)

    def _keys(self, places: Iterable[Place]) -> Iterator[Key]:
        for place in places:
            key = self._field(place) if place and value_at(self._base, place) is None else None
            if key is not None:
                yield key

    def _field(self, place: Place) -> Key | None:
        parent = schema_at(self._subject.schema, place[:-1])
        return None if parent is None else (parent, str(place[-1]) if isinstance(place[-1], str) else ITEM)


def _own_field(place: Place) -> Place:
    """Return the place of the field that has a value: a list, for one of its items."""
    while place and isinstance(place[-1], int):
        place = place[:-1]
    return place


def _objects(node: Schema | None, value: Any) -> Iterator[tuple[Schema, dict[str, Any]]]:
    """Yield the value and all objects below it, each with the part of the schema that describes it."""
    if node is not None and isinstance(value, dict):
        yield node, value
        for name, each in value.items():
            yield from _objects(schema_at(node, (name,)), each)
    elif node is not None and isinstance(value, list):
        for each in value:
            yield from _objects(node.items, each)
