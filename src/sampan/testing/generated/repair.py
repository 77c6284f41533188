"""Repair of generated objects: the judge names the faulty fields, and these are made again or removed.

Rules in CEL, and rules that only the server has, relate fields to each other. So an object is repaired, not thrown
away: nearly every attempt ends with an object that the server accepts.
"""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial
from typing import Final

from sampan.core.field import ErrorType, FieldError
from sampan.core.json.values import same
from sampan.core.object import Object
from sampan.patch.copying import copy_json
from sampan.schema.structural import Schema
from sampan.testing.generated.choices import Choices, Complete, Seeded, Smallest, pick
from sampan.testing.generated.faults import applied, is_required, path_of, supported
from sampan.testing.generated.framing import NOT_GENERATED, framed, framed_object, generated_fields
from sampan.testing.generated.lessons import NO_LESSONS, Lessons
from sampan.testing.generated.places import Place, place_of, put, remove, schema_at, value_at
from sampan.testing.generated.subject import Subject
from sampan.testing.generated.values.schema_values import Generator
from sampan.testing.generated.values.semantics import USUAL, Meanings

_ROUNDS: Final = 12
_CANDIDATES: Final = 60
_JUDGED_MAX: Final = 150
"""Limit of attempts to repair one object: rules in CEL may take milliseconds."""
_SEEDS: Final = 60
_WORD: Final = re.compile(r"\w+")

Change = Callable[[Object], None]


class NotGenerated(ValueError):
    """No valid object was found. The message has the faults of the object with the fewest faults."""


def smallest_object(subject: Subject, name: str = "", *, meanings: Meanings = USUAL) -> Object:
    """Return a valid object with few fields. Raises `NotGenerated`."""
    choices: Sequence[Choices] = (Smallest(), Complete(), *(Seeded(number) for number in range(_SEEDS)))
    nearest: Sequence[FieldError] = ()
    for each in choices:
        made = framed(subject, generated_fields(subject, Generator(each, meanings)), name)
        faults = _repair(subject, made, None, each, meanings)
        if not faults:
            return made
        nearest = faults if not nearest or len(faults) < len(nearest) else nearest
    text = "; ".join(str(each) for each in nearest[:3])
    raise NotGenerated(f"{subject.kind}: found no valid object: {text}: add a meaning for the field, or a base object")


def generated_object(
    subject: Subject,
    choices: Choices,
    base: Object,
    *,
    meanings: Meanings = USUAL,
    size: int = 60,
    lessons: Lessons = NO_LESSONS,
    at_once: bool = False,
) -> Object:
    """Return an object that the server accepts.

    Parts of the valid object `base` replace parts that cannot be repaired. `at_once`: repair all faults together first,
    which is faster and removes more.
    """
    for bound in (size, size // 4, size // 16):
        made = framed_object(subject, choices, base, meanings, bound, lessons)
        if at_once and not _repaired_at_once(subject, made, base, choices):
            return made
        if not _repair(subject, made, base, choices, meanings):
            return made
    copy: Object = copy_json(base)
    return copy


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
            if same(changed, obj):
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


def _repaired_at_once(subject: Subject, obj: Object, base: Object, choices: Choices) -> Sequence[FieldError]:
    """Change all faulty values in place, as long as the faults get fewer. Return those that are left."""
    faults = subject.faults(obj)
    while faults:
        changed = copy_json(obj)
        if not applied(subject, changed, faults, base, choices):
            break
        left = subject.faults(changed)
        if len(left) >= len(faults):
            break
        obj.clear()
        obj.update(changed)
        faults = left
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
    place = place_of(obj, path_of(faults[0]))
    if place and place[0] not in NOT_GENERATED:
        yield from _named_changes(obj, faults[0], place, choices)
    while place and place[0] not in NOT_GENERATED:
        below = list(_below(subject.schema, obj, place))
        words = _words_of_rule(subject.schema, place, faults[0])
        named = [each for each in below if each[-1] in words]
        if named:
            yield from _field_changes(subject, obj, base, _rotated(named, choices), choices, meanings)
        places = [*_rotated(below, choices), place]
        yield from _field_changes(subject, obj, base, places, choices, meanings)
        yield partial(remove, place=place)
        place = place[:-1]


def _rotated(places: list[Place], choices: Choices) -> list[Place]:
    """Return the places, with a different one as the first each time: a rule relates these fields."""
    first = choices.integer(0, len(places) - 1) if places else 0
    return [*places[first:], *places[:first]]


def _words_of_rule(schema: Schema, place: Place, fault: FieldError) -> Set[str]:
    """Return the words of the CEL rule that failed: they have the names of the fields that it relates."""
    node = schema_at(schema, place)
    rules = node.rules if node is not None else ()
    failed = (each.rule for each in rules if fault.detail in (each.message, f"failed rule: {each.rule}"))
    return set(_WORD.findall(next(failed, "")))


def _field_changes(
    subject: Subject, obj: Object, base: Object | None, places: Sequence[Place], choices: Choices, meanings: Meanings
) -> Iterator[Change]:
    """Yield changes of single fields: removed, as in the valid object, and made again."""
    for each in places:
        if value_at(obj, each) is not None and not is_required(subject.schema, each):
            yield partial(remove, place=each)
    for each in places:
        if base is not None and (found := value_at(base, each)) is not None:
            yield partial(put, place=each, value=found)
    for source in (choices, choices, Seeded(choices.integer(0, 1000))):
        for each in places:
            node = schema_at(subject.schema, each)
            name = next((str(step) for step in reversed(each) if isinstance(step, str)), "")
            if node is not None:
                yield partial(put, place=each, value=Generator(source, meanings, 8).value(node, name))


def _named_changes(obj: Object, fault: FieldError, place: Place, choices: Choices) -> Iterator[Change]:
    """Yield the changes that the fault itself names."""
    if fault.type is ErrorType.FORBIDDEN:
        yield partial(remove, place=place)
    elif isinstance(value_at(obj, place), str) and (values := supported(fault)):
        yield partial(put, place=place, value=pick(choices, values))


def _below(schema: Schema, obj: Object, place: Place) -> Iterator[Place]:
    """Yield the places of the fields of an object, also of those that are not set."""
    value, node = value_at(obj, place), schema_at(schema, place)
    if isinstance(value, dict):
        for key in dict.fromkeys((*value, *(node.properties if node is not None else ()))):
            yield (*place, key)
            if isinstance(value.get(key), dict):
                yield from ((*place, key, below) for below in value[key])
