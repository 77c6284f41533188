"""Values of a schema node, from choices. They meet the rules of the node; the judge validates the whole object."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from sampan.patch.copying import copy_json
from sampan.schema.derived import derived
from sampan.schema.structural import ListType, Schema, ValueValidations
from sampan.schema.validation.check import compile_check
from sampan.testing.generated.choices import Choices, pick
from sampan.testing.generated.lessons import ITEM, NO_LESSONS, Lessons
from sampan.testing.generated.values.constraints import plain
from sampan.testing.generated.values.fields import Fields, fields_of, limit
from sampan.testing.generated.values.formats import SCALARS, TEXTS, label, labels
from sampan.testing.generated.values.patterns import NoText, matching
from sampan.testing.generated.values.selectors import field_requirement, has_labels, is_requirement, requirement
from sampan.testing.generated.values.semantics import USUAL, Make, Meanings, hinted, pattern_of

_NO_RULES: Final = ValueValidations()
_INT32: Final = 2**31 - 1
_ITEMS: Final = 2
"""Largest number of items above the minimum."""
_USUAL_MAX: Final = 100
"""Integers without a limit are larger than this in one of five cases."""
_EXTRA_CHARACTERS: Final = 8
_ANY: Final = (None, True, 7, "text", [1], {"key": "value"})
_TRIES: Final = 4
_DEPTH: Final = 8
_OUTER: Final = _DEPTH - 1
"""Depth of the spec."""
_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")
"""Keys of maps of quantities."""


@dataclass(slots=True)
class Generator:
    """Generator of values. `size` bounds the number of optional fields, and `depth` the nesting."""

    choices: Choices
    meanings: Meanings = USUAL
    size: int = 60
    depth: int = _DEPTH
    lessons: Lessons = NO_LESSONS

    def value(self, schema: Schema, name: str = "", base: Any = None) -> Any:
        """Return a value of a node. `name` is that of its field. It has the parts of a valid value `base`."""
        node = plain(schema, self.choices)
        if base is not None:
            return self._with_base(node, name, base)
        rules = node.validations or _NO_RULES
        if rules.enum:
            return _own(pick(self.choices, rules.enum))
        if node.nullable and self.choices.integer(0, 9) == 9:
            return None
        meant = _meant(node, self.meanings, name)
        if meant is not None:
            make, check = meant
            value = make(self.choices)
            if check is None or check(value):
                return value
        if node.scalar:
            return SCALARS[node.scalar](self.choices)
        return self._of_type(node, rules, name)

    def _with_base(self, node: Schema, name: str, base: Any) -> Any:
        """Return a valid value with more fields, if it is an object or a list of one object."""
        rules = node.validations or _NO_RULES
        if isinstance(base, dict) and node.type == "object":
            return self._object(node, rules, name, base)
        if isinstance(base, list) and len(base) == 1 and isinstance(base[0], dict) and node.items is not None:
            return [self.value(node.items, name.removesuffix("s"), base[0])]
        return copy_json(base)

    def _of_type(self, node: Schema, rules: ValueValidations, name: str) -> Any:
        if node.int_or_string:
            return self._integer_or_text(node, rules)
        match node.type:
            case "object":
                return self._object(node, rules, name, {})
            case "array":
                return self._list(node, rules, name)
            case "string":
                return self._text(node, rules)
            case "integer":
                return self._integer(rules)
            case "number":
                return self._number(rules)
            case "boolean":
                return self.choices.integer(0, 1) == 1
        return self._text(node, rules) if rules.pattern else _own(pick(self.choices, _ANY[2:]))

    def _integer_or_text(self, node: Schema, rules: ValueValidations) -> int | str:
        if self.choices.integer(0, 1) == 0:
            return self._integer(replace(rules, maximum=rules.maximum or 1000))
        return self._text(node, rules) if rules.pattern else f"{self.choices.integer(1, 100)}%"

    def _object(self, node: Schema, rules: ValueValidations, name: str, base: Mapping[str, Any]) -> dict[str, Any]:
        if has_labels(node, name):
            found = dict(labels(self.choices) for _ in range(self._count(rules.min_properties or 0, None)))
            if base or len(found) >= (rules.min_properties or 0):
                return {**found, **base}
        return self._fields(node, rules, base)

    def _fields(self, node: Schema, rules: ValueValidations, base: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.depth -= 1
        if node.embedded_resource:
            found |= {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "embedded"}}
        fields = fields_of(node)
        for name, child in fields.required:
            if name not in found:
                found[name] = self._field(node, name, child, base.get(name))
        for name, value in base.items():
            if name not in found:
                known = node.properties.get(name)
                found[name] = copy_json(value) if known is None else self.value(known, name, value)
        for name in self.lessons.required.get(node, ()):
            if name not in found:
                found[name] = self._filled(node, name, node.properties[name])
        for name, child in self._chosen(node, fields, base):
            if name not in found and (node, name) not in self.lessons.never:
                found[name] = self._field(node, name, child, None)
        least = rules.min_properties or 0
        for name, child in fields.optional if len(found) < least else ():
            if name not in found and len(found) < least:
                found[name] = self.value(child, name)
        if isinstance(node.additional_properties, Schema):
            self._entries(found, node.additional_properties, least, rules.max_properties)
        elif node.preserve_unknown_fields and not node.embedded_resource and self._wants_more():
            found[f"extra{self.choices.integer(0, 9)}"] = _own(pick(self.choices, _ANY[1:]))
        if rules.max_properties is not None:
            limit(found, rules)
        self.depth += 1
        return found

    def _chosen(self, node: Schema, fields: Fields, base: Mapping[str, Any]) -> Iterator[tuple[str, Schema]]:
        """Yield the optional fields that are set."""
        if not fields.optional or self.size <= 0 or self.depth <= 0:
            return
        optional, few = fields.optional, fields.few or (fields.wide and self.depth < _OUTER)
        if node in self.lessons.unions:
            if not any(name in base for name, _ in fields.members):
                yield pick(self.choices, fields.members)
            optional, few = fields.single, False
        # A spec with many optional objects gets twice as many of them as an object inside of it.
        for _ in range(2 if few and self.depth >= _OUTER else 1):
            for number in self.choices.subset(len(optional), few):
                self.size -= 1
                yield optional[number]
                if self.size <= 0:
                    return

    def _field(self, node: Schema, name: str, child: Schema, base: Any) -> Any:
        if base is None and (known := self.lessons.values.get((node, name))):
            return pick(self.choices, known)
        return self.value(child, name, base)

    def _filled(self, node: Schema, name: str, child: Schema) -> Any:
        """Return a value of a field that must not be empty."""
        found = self._field(node, name, child, None)
        if found == "":
            return label(self.choices)
        return [self._field(child, ITEM, child.items, None)] if found == [] and child.items is not None else found

    def _wants_more(self) -> bool:
        if self.size <= 0 or self.depth <= 0 or not self.choices.optional():
            return False
        self.size -= 1
        return True

    def _entries(self, found: dict[str, Any], child: Schema, least: int, most: int | None) -> None:
        count = self._count(least, most)
        tries = 3 * count
        while len(found) < count and tries:
            tries -= 1
            key = self.choices.integer(0, 99) if tries % 3 else len(found)
            found[_RESOURCES[key % len(_RESOURCES)] if child.scalar == "quantity" else f"key{key}"] = self.value(child)

    def _count(self, least: int, most: int | None) -> int:
        if self.depth <= 0 or self.size <= 0:
            return least
        high = least + _ITEMS if most is None else min(most, least + _ITEMS)
        count = self.choices.length(least, max(least, high))
        self.size -= count
        return count

    def _list(self, node: Schema, rules: ValueValidations, name: str) -> list[Any]:
        items = node.items or Schema()
        count = self._count(rules.min_items or 0, rules.max_items)
        found: list[Any] = []
        seen: set[bytes] = set()
        unique = node.list_type in (ListType.SET, ListType.MAP)
        singular = name.removesuffix("s")
        known = (node, ITEM) in self.lessons.values
        for number in range(count * (1 if not unique else _TRIES)):
            if len(found) == count:
                break
            item = self._field(node, ITEM, items, None) if known else self.value(items, singular)
            if unique:
                _make_distinct(item, node, number, len(found) < (rules.min_items or 0))
                if isinstance(item, str) and _identity(item, node) in seen and (rules.min_items or 0) > len(found):
                    item = self._other_text(items, item, number)
                if _identity(item, node) in seen:
                    continue
                seen.add(_identity(item, node))
            found.append(item)
        return found

    def _other_text(self, items: Schema, item: str, number: int) -> str:
        rules = items.validations or _NO_RULES
        if rules.enum:
            return str(rules.enum[number % len(rules.enum)])
        return f"{item}{number}" if not rules.pattern and not rules.format else item

    def _text(self, node: Schema, rules: ValueValidations) -> str:
        least = rules.min_length or 0
        most = least + _EXTRA_CHARACTERS if rules.max_length is None else max(rules.max_length, least)
        make, pattern = hinted(node), pattern_of(node)
        if make is not None and not pattern:
            return str(make(self.choices))
        if pattern:
            try:
                return matching(pattern, self.choices, least, max(40, most) if rules.max_length is None else most)
            except NoText:
                return self.choices.text(least, most)
        known = TEXTS.get((rules.format or "").replace("-", ""))
        if known is not None:
            return known(self.choices)
        return self.choices.text(least, min(most, least + _EXTRA_CHARACTERS))

    def _integer(self, rules: ValueValidations) -> int:
        low = 0 if rules.minimum is None else int(rules.minimum) + (1 if rules.exclusive_minimum else 0)
        if rules.maximum is not None:
            high = int(rules.maximum) - (1 if rules.exclusive_maximum else 0)
            low = min(low, high) if rules.minimum is None else low
        else:
            high = _INT32
        if rules.multiple_of:
            step = max(int(rules.multiple_of), 1)
            return step * self.choices.integer(-(-low // step), max(high // step, -(-low // step)))
        if rules.maximum is None:
            amount = self.choices.integer(0, _USUAL_MAX + _USUAL_MAX // 4)
            if amount <= _USUAL_MAX:
                return low + amount
        return self.choices.integer(low, max(low, min(high, _INT32)))

    def _number(self, rules: ValueValidations) -> float:
        low = 0.0 if rules.minimum is None else float(rules.minimum)
        high = max(low + 100, 100.0) if rules.maximum is None else float(rules.maximum)
        low = min(low, high)
        if rules.multiple_of:
            return float(rules.multiple_of) * self.choices.integer(-int(-low // rules.multiple_of), 100)
        steps = self.choices.integer(1 if rules.exclusive_minimum else 0, 99 if rules.exclusive_maximum else 100)
        return round(low + (high - low) * steps / 100, 4)


@derived
def _meant(node: Schema, meanings: Meanings, name: str) -> tuple[Make, Callable[[Any], bool] | None] | None:
    """Return the function that makes values of a field with a meaning, and the check of its schema."""
    if is_requirement(node):
        make: Make | None = field_requirement if name == "matchField" else requirement
    else:
        make = meanings.of(name, node) if name else None
    return None if make is None else (make, compile_check(node))


def _own(value: Any) -> Any:
    return deepcopy(value) if isinstance(value, dict | list) else value


def _make_distinct(item: Any, node: Schema, number: int, needed: bool) -> None:
    """Change the free keys of an item of a map list, so that its key is new."""
    if node.list_type is not ListType.MAP or not isinstance(item, dict) or node.items is None:
        return
    for key in node.list_map_keys:
        child = node.items.properties.get(key, Schema(type="string"))
        rules = child.validations or _NO_RULES
        if key not in item:
            continue
        if rules.enum:
            item[key] = rules.enum[number % len(rules.enum)]
        elif isinstance(item[key], str) and not rules.pattern and not rules.format and needed and number:
            item[key] = f"{item[key]}{number}"
        elif isinstance(item[key], int) and not isinstance(item[key], bool) and needed and number:
            item[key] += number


def _identity(item: Any, node: Schema) -> bytes:
    if node.list_type is ListType.MAP and isinstance(item, dict):
        item = [item.get(key) for key in node.list_map_keys]
    return orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
