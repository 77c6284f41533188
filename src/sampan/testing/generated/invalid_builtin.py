"""Invalid objects of built-in kinds: their rules are in the server's code, so its validation is probed.

Each field of a valid object gets a few probes: no value, an empty one, a text that no format accepts, a number outside
of any range, the same item twice. The judge has to refuse the object once, at the probed field.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from sampan.core.field import ErrorType, FieldError
from sampan.core.object import Object
from sampan.schema.structural import Schema
from sampan.testing.generated.choices import Complete, Seeded
from sampan.testing.generated.lessons import Lessons, refused_later
from sampan.testing.generated.places import Place, put, remove
from sampan.testing.generated.repair import generated_object
from sampan.testing.generated.required_fields import NAMELESS
from sampan.testing.generated.subject import Subject
from sampan.testing.generated.values.semantics import Meanings

_NOT_PROBED: Final = frozenset({"apiVersion", "kind", "metadata", "status"})
_REFUSED_EARLIER: Final = {
    "Pod": frozenset({"preemptionPolicy", "priorityClassName", "runtimeClassName"}),
    "Service": frozenset({"clusterIP", "clusterIPs"}),
}
"""Fields by kind that admission or the allocation of addresses refuses with another error."""
_TEXT: Final = "Not valid!"
_KEY: Final = "not a key!"
_LOW: Final = -1
_HIGH: Final = 70_000
_SEEDS: Final = 6
_SIZE: Final = 30
"""Number of optional fields of the random objects."""


@dataclass(frozen=True, slots=True)
class ProbedChange:
    """A change of one field, in words, and the path at which the server has to refuse it."""

    place: Place
    field: str
    words: str
    value: Any = None
    removed: bool = False

    def changed(self, obj: Object) -> Object:
        """Return the object with the change."""
        made = deepcopy(obj)
        if self.removed:
            remove(made, self.place)
        else:
            put(made, self.place, self.value)
        return made

    def explains(self, fault: FieldError) -> bool:
        """Return True if the fault is at the changed field, or in the value that the probe has set."""
        path = str(fault.field)
        return path == self.field or (not self.removed and path.startswith((f"{self.field}[", f"{self.field}.")))


@dataclass(frozen=True, slots=True)
class RefusedObject:
    """An object that the judge refuses for one fault."""

    obj: Object
    field: str
    reason: ErrorType
    words: str


def probed(subject: Subject, base: Object, meanings: Meanings) -> Iterator[RefusedObject]:
    """Yield an object for each probe that the judge refuses. `base` is a valid object."""
    tried: set[tuple[Any, ...]] = set()
    lessons = Lessons(never=frozenset(refused_later(subject.kind, subject.schema)))
    complete = generated_object(subject, Complete(), base, meanings=meanings, lessons=lessons)
    random = (
        generated_object(subject, Seeded(n), base, meanings=meanings, size=_SIZE, lessons=lessons)
        for n in range(_SEEDS)
    )
    for start in (base, complete, *random):
        for probe in _probes(subject, start):
            # Items of a list have the same rules, so the first one is enough.
            key = (tuple(step for step in probe.place if isinstance(step, str)), probe.words)
            if key in tried or not _REFUSED_EARLIER.get(subject.kind, frozenset()).isdisjoint(probe.place):
                continue
            made = probe.changed(start)
            faults = subject.faults(made)
            if len(faults) == 1 and probe.explains(faults[0]):
                tried.add(key)
                yield RefusedObject(made, str(faults[0].field), faults[0].type, probe.words)


def _probes(subject: Subject, obj: Object) -> Iterator[ProbedChange]:
    if subject.definition.group not in NAMELESS:
        yield ProbedChange(("metadata", "name"), "metadata.name", f"the text {_TEXT!r}", _TEXT)
        yield ProbedChange(("metadata", "labels"), "metadata.labels", f"the key {_KEY!r}", {_KEY: "yes"})
    for name, child in subject.schema.properties.items():
        if name not in _NOT_PROBED:
            yield from _of_field(child, obj, (name,), name)


def _of_field(schema: Schema, parent: Object, place: Place, field: str) -> Iterator[ProbedChange]:
    """Yield the probes of a field of an object, and of all below it. An absent field gets values only."""
    name = place[-1]
    if name in parent:
        yield ProbedChange(place, field, "missing", removed=True)
    if schema.type == "string" or schema.int_or_string:
        yield ProbedChange(place, field, "empty", "")
        yield ProbedChange(place, field, f"the text {_TEXT!r}", _TEXT)
    if schema.type == "integer" or schema.int_or_string:
        yield ProbedChange(place, field, "negative", _LOW)
        yield ProbedChange(place, field, f"the number {_HIGH}", _HIGH)
    if schema.type == "object" and isinstance(schema.additional_properties, Schema):
        yield from _of_map(schema.additional_properties, parent.get(str(name)) or {}, place, field)
    value = parent.get(str(name))
    if isinstance(value, dict):
        for below, child in schema.properties.items():
            yield from _of_field(child, value, (*place, below), f"{field}.{below}")
    if schema.type == "array" and schema.items is not None:
        yield from _of_list(schema.items, value if isinstance(value, list) else [], place, field)


def _of_map(values: Schema, entries: Object, place: Place, field: str) -> Iterator[ProbedChange]:
    if values.type == "string":
        yield ProbedChange(place, field, f"the key {_KEY!r}", {**entries, _KEY: "eWVz"})


def _of_list(items: Schema, value: list[Any], place: Place, field: str) -> Iterator[ProbedChange]:
    yield ProbedChange(place, field, "empty", [])
    if items.type == "string":
        yield ProbedChange(place, field, f"the text {_TEXT!r}", [_TEXT])
    if not value:
        return
    twice = [*value, deepcopy(value[0])]
    yield ProbedChange(place, field, "an item that is there", twice)
    if isinstance(value[0], dict):
        for below, child in items.properties.items():
            yield from _of_field(child, value[0], (*place, 0, below), f"{field}[0].{below}")
