"""Values of a schema node, from choices. They meet the rules of the node; the judge validates the whole object."""

from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import orjson

from sampan.schema.check import compile_check
from sampan.schema.structural import ListType, Schema, ValueValidations
from sampan.testing.generated.choices import Choices, pick
from sampan.testing.generated.constraints import plain
from sampan.testing.generated.formats import SCALARS, TEXTS, label
from sampan.testing.generated.patterns import NoText, matching
from sampan.testing.generated.selectors import field_requirement, has_labels, is_requirement, requirement
from sampan.testing.generated.semantics import USUAL, Make, Meanings, hinted, pattern_of

_NO_RULES: Final = ValueValidations()
_INT32: Final = 2**31 - 1
_ITEMS: Final = 2
"""Largest number of items above the minimum."""
_EXTRA_CHARACTERS: Final = 8
_ANY: Final = (None, True, 7, "text", [1], {"key": "value"})
_TRIES: Final = 4
_check_of = lru_cache(4096)(compile_check)
"""Checks by their nodes. To compile one takes longer than all other steps of a value."""


@dataclass(slots=True)
class Generator:
    """Generator of values. `size` bounds the number of optional fields, and `depth` the nesting."""

    choices: Choices
    meanings: Meanings = USUAL
    size: int = 60
    depth: int = 8

    def value(self, schema: Schema, name: str = "") -> Any:
        """Return a value of a node. `name` is that of its field."""
        node = plain(schema, self.choices)
        rules = node.validations or _NO_RULES
        if node.nullable and not rules.enum and self.choices.integer(0, 9) == 9:
            return None
        if rules.enum:
            return deepcopy(pick(self.choices, rules.enum))
        meant = self._meant(node, name)
        if meant is not None:
            return meant
        if node.scalar:
            return SCALARS[node.scalar](self.choices)
        return self._of_type(node, rules, name)

    def _of_type(self, node: Schema, rules: ValueValidations, name: str) -> Any:
        if node.int_or_string:
            if self.choices.integer(0, 1) == 0:
                return self._integer(replace(rules, maximum=rules.maximum or 1000))
            return self._text(node, rules) if rules.pattern else f"{self.choices.integer(1, 100)}%"
        match node.type:
            case "object":
                return self._object(node, rules, name)
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
        return self._text(node, rules) if rules.pattern else deepcopy(pick(self.choices, _ANY[2:]))

    def _meant(self, node: Schema, name: str) -> Any:
        if is_requirement(node):
            make: Make | None = field_requirement if name == "matchField" else requirement
        else:
            make = self.meanings.of(name, node) if name else None
        if make is None:
            return None
        value, check = make(self.choices), _check_of(node)
        return value if check is None or check(value) else None

    def _object(self, node: Schema, rules: ValueValidations, name: str) -> dict[str, Any]:
        if has_labels(node, name):
            found = {label(self.choices): label(self.choices) for _ in range(self._count(rules.min_properties or 0, 2))}
            if len(found) >= (rules.min_properties or 0):
                return found
        return self._fields(node, rules)

    def _fields(self, node: Schema, rules: ValueValidations) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.depth -= 1
        if node.embedded_resource:
            found |= {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "embedded"}}
        least = rules.min_properties or 0
        for name, child in node.properties.items():
            if name not in found and (name in rules.required or self._wants(child)):
                found[name] = self.value(child, name)
        for name in (*rules.required, *node.properties):
            if name not in found and (name in rules.required or len(found) < least):
                found[name] = self.value(node.properties.get(name) or _additional(node), name)
        if isinstance(node.additional_properties, Schema):
            self._entries(found, node.additional_properties, least, rules.max_properties)
        elif node.preserve_unknown_fields and not node.embedded_resource and self._wants(node):
            found[f"extra{self.choices.integer(0, 9)}"] = deepcopy(pick(self.choices, _ANY[1:]))
        for name in [name for name in reversed(found) if name not in rules.required]:
            if rules.max_properties is not None and len(found) > rules.max_properties:
                del found[name]
        self.depth += 1
        return found

    def _wants(self, child: Schema) -> bool:
        if self.size <= 0 or self.depth <= 0 or not self.choices.optional():
            return False
        self.size -= 1
        return True

    def _entries(self, found: dict[str, Any], child: Schema, least: int, most: int | None) -> None:
        count = self._count(least, most)
        tries = 3 * count
        while len(found) < count and tries:
            tries -= 1
            found[f"key{self.choices.integer(0, 99) if tries % 3 else len(found)}"] = self.value(child)

    def _count(self, least: int, most: int | None) -> int:
        if self.depth <= 0 or self.size <= 0:
            return least
        low = least or (1 if self.choices.optional() else 0)
        high = least + _ITEMS if most is None else min(most, least + _ITEMS)
        count = self.choices.integer(min(low, high), high)
        self.size -= count
        return count

    def _list(self, node: Schema, rules: ValueValidations, name: str) -> list[Any]:
        items = node.items or Schema()
        count = self._count(rules.min_items or 0, rules.max_items)
        found: list[Any] = []
        seen: set[bytes] = set()
        unique = node.list_type in (ListType.SET, ListType.MAP)
        singular = name.removesuffix("s")
        for number in range(count * (1 if not unique else _TRIES)):
            if len(found) == count:
                break
            item = self.value(items, singular)
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
            high = max(low + 100, 100) if self.choices.integer(0, 4) else _INT32
        if rules.multiple_of:
            step = max(int(rules.multiple_of), 1)
            return step * self.choices.integer(-(-low // step), max(high // step, -(-low // step)))
        return self.choices.integer(low, max(low, min(high, _INT32)))

    def _number(self, rules: ValueValidations) -> float:
        low = 0.0 if rules.minimum is None else float(rules.minimum)
        high = max(low + 100, 100.0) if rules.maximum is None else float(rules.maximum)
        low = min(low, high)
        if rules.multiple_of:
            return float(rules.multiple_of) * self.choices.integer(-int(-low // rules.multiple_of), 100)
        steps = self.choices.integer(1 if rules.exclusive_minimum else 0, 99 if rules.exclusive_maximum else 100)
        return round(low + (high - low) * steps / 100, 4)


def _additional(node: Schema) -> Schema:
    return node.additional_properties if isinstance(node.additional_properties, Schema) else Schema(type="string")


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
