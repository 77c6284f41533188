"""Changes of a campaign: all fields of a spec, and for each the values that a server accepts."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from sampan.core.json.values import contains, same
from sampan.core.object import Object
from sampan.schema.structural import Schema, ValueValidations
from sampan.testing.generated.choices import Complete, Seeded
from sampan.testing.generated.places import Place, place_of, put, remove, value_at
from sampan.testing.generated.subject import Subject
from sampan.testing.generated.values.schema_values import Generator
from sampan.testing.generated.values.semantics import Meanings

_BAD_TEXT: Final = "no-such-value!"
"""Text that a schema without rules accepts and an operator may not."""
_RANDOM_VALUES: Final = 6
_LARGE: Final = 100
_NO_RULES: Final = ValueValidations()
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class GeneratedChange:
    """One change of one field."""

    field: str
    """Path: `spec.ports[0].name`."""
    before: Any
    """Value before; None: not set."""
    value: Any
    """Value after; None: removed."""
    obj: Object
    """The whole object after the change."""

    def __str__(self) -> str:
        return f"{self.field}: {_shown(self.before)} -> {_shown(self.value)}"


@dataclass(frozen=True, slots=True)
class _Field:
    place: Place
    name: str
    schema: Schema
    required: bool


def fields_of(subject: Subject, base: Object) -> list[str]:
    """Return the paths of all fields below the spec, without those below a field that is not set."""
    return [path_of(each.place) for each in _fields(subject, base)]


def changes_of(
    subject: Subject,
    base: Object,
    *,
    seed: int,
    values_max: int,
    meanings: Meanings,
    values: Mapping[str, Sequence[Any]],
) -> Iterator[GeneratedChange]:
    """Yield the changes of all fields. `values` are more values by path, which are tried first and may be invalid."""
    by_path = {path_of(each.place): each for each in _fields(subject, base)}
    for path in dict.fromkeys((*by_path, *values)):
        chosen = [deepcopy(each) for each in values.get(path, ())]
        place = by_path[path].place if path in by_path else place_of(base, path)
        made = [_changed(base, path, place, each) for each in chosen]
        if path in by_path:
            made += _valid(subject, base, by_path[path], Seeded(f"{seed}:{path}"), values_max, meanings)
        yield from made


def path_of(place: Place) -> str:
    """Return a place in an object as text, such as `spec.ports[0].name`."""
    text = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in place)
    return text.removeprefix(".")


def _valid(
    subject: Subject, base: Object, field: _Field, choices: Seeded, values_max: int, meanings: Meanings
) -> list[GeneratedChange]:
    found: list[GeneratedChange] = []
    for value in _values(field, value_at(base, field.place), choices, meanings):
        if len(found) >= values_max:
            break
        made = _changed(base, path_of(field.place), field.place, value)
        if (
            not same(made.obj, base)
            and not contains([each.obj for each in found], made.obj)
            and not subject.faults(made.obj)
        ):
            found.append(made)
    return found


def _changed(base: Object, path: str, place: Place, value: Any) -> GeneratedChange:
    obj = deepcopy(base)
    if value is _ABSENT:
        remove(obj, place)
    else:
        put(obj, place, value)
    return GeneratedChange(path, value_at(base, place), None if value is _ABSENT else value, obj)


def _fields(subject: Subject, base: Object) -> Iterator[_Field]:
    for name, child in subject.schema.properties.items():
        if name not in ("apiVersion", "kind", "metadata", "status"):
            yield from _below(child, value_at(base, (name,)), (name,), required=True, itself=child.type != "object")


def _below(schema: Schema, value: Any, place: Place, *, required: bool, itself: bool = True) -> Iterator[_Field]:
    name = next((str(each) for each in reversed(place) if isinstance(each, str)), "")
    if itself:
        yield _Field(place, name, schema, required)
    rules = schema.validations or _NO_RULES
    if isinstance(value, dict) and not schema.scalar:
        for key, child in schema.properties.items():
            yield from _below(child, value.get(key), (*place, key), required=key in rules.required)
    elif isinstance(value, list) and value and schema.items is not None:
        yield from _below(schema.items, value[0], (*place, 0), required=True, itself=False)


def _values(field: _Field, now: Any, choices: Seeded, meanings: Meanings) -> Iterator[Any]:
    """Yield values of a field, the most useful first: another value, an unusual value, no value, limits."""
    if isinstance(now, bool):
        yield not now
    elif now is None:
        yield Generator(Complete(), meanings).value(field.schema, field.name)
    random = [Generator(choices, meanings, 8).value(field.schema, field.name) for _ in range(_RANDOM_VALUES)]
    yield next((each for each in random if each != now), random[0])
    yield from _odd(field.schema, now)
    if now is not None and not field.required:
        yield _ABSENT
    yield from _limits(field.schema, now)
    yield from random


def _odd(schema: Schema, now: Any) -> Iterator[Any]:
    rules = schema.validations or _NO_RULES
    if schema.type == "integer":
        yield int(rules.minimum) if rules.minimum is not None else 0
    elif schema.type == "string" and not rules.enum and not schema.scalar:
        yield _BAD_TEXT
    elif isinstance(now, list):
        yield now[:-1]
    elif isinstance(now, dict) and not schema.properties:
        yield dict(list(now.items())[1:])


def _limits(schema: Schema, now: Any) -> Iterator[Any]:
    rules = schema.validations or _NO_RULES
    if rules.enum:
        yield from rules.enum
    elif schema.type == "integer":
        if isinstance(now, int):
            yield from (now + 1, now - 1)
        yield min(int(rules.maximum), _LARGE) if rules.maximum is not None else _LARGE
    elif schema.type == "string":
        yield ""
    elif isinstance(now, list):
        yield []
        yield [*now, *now[:1]]
    elif isinstance(now, dict):
        yield {}


def _shown(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
