"""`HubConverter`: lossless conversion of objects of a CRD between versions, through the hub version."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sampan.core import errors
from sampan.core.object import Object
from sampan.registry.crd.hub.field_paths import FieldPath, items_at, put, split_items, take
from sampan.registry.crd.hub.preserved import entries_between, read, restore, write
from sampan.schema.cel.cost.budget import Budget
from sampan.schema.cel.environment import Program
from sampan.schema.cel.errors import CelError
from sampan.schema.cel.native import to_json
from sampan.schema.compile import CompiledSchema
from sampan.schema.structural import UNSET
from sampan.storage.encoding import decode
from sampan.wire import json as wire_json


@dataclass(frozen=True, slots=True)
class FieldRule:
    """Pair of a field of the hub and the equivalent field of a version."""

    hub: FieldPath
    field: FieldPath
    """Path of the field in the version. It passes through the same lists as the path in the hub."""
    default: Any = UNSET
    """Value of the hub's field if the version's field is absent."""
    program_to_hub: Program | None = None
    program_from_hub: Program | None = None


@dataclass(frozen=True, slots=True)
class HubConverterVersion:
    """One version: its schema and its differences from the hub."""

    compiled: CompiledSchema
    rules: Sequence[FieldRule] = ()


class HubConverter:
    """Conversion of one CRD. It never changes its input, so objects may be shared."""

    def __init__(self, group: str, hub: str, versions: Mapping[str, HubConverterVersion]) -> None:
        self._hub = f"{group}/{hub}"
        self._versions = {f"{group}/{name}": version for name, version in versions.items()}
        self._rules = {name: _by_items(version.rules) for name, version in self._versions.items()}

    def convert(self, obj: Object, api_version: str) -> Object:
        """Return the object in a version. Raises `StatusError` 500 if an expression fails."""
        result: Object = decode(wire_json.encode(obj))
        present = result["apiVersion"]
        if api_version == present:
            return result
        if present not in self._versions or api_version not in self._versions:
            raise errors.internal_error(f"no conversion from {present} to {api_version}")
        try:
            if present != self._hub:
                result = self._step(result, present, self._hub)
            return result if api_version == self._hub else self._step(result, self._hub, api_version)
        except CelError as error:
            raise errors.internal_error(f"conversion from {present} to {api_version} failed: {error}") from None

    def _step(self, obj: Object, source: str, target: str) -> Object:
        """Convert between a version and the hub, with the preserved fields."""
        kept = read(obj)
        made = self._plain(obj, source, target)
        entries = kept.pop(target, [])
        if entries:
            made = self._restored(made, entries, target)
        kept[source] = entries_between(obj, self._plain(made, target, source))
        write(made, kept)
        return made

    def _restored(self, made: Object, entries: list[dict[str, Any]], target: str) -> Object:
        """Restore the entries unless the schema then refuses the object: clients may write the annotation."""
        compiled = self._versions[target].compiled
        result: Object = decode(wire_json.encode(made))
        restore(result, entries)
        compiled.prune(result)
        return made if compiled.validate(result) and not compiled.validate(made) else result

    def _plain(self, obj: Object, source: str, target: str) -> Object:
        """Convert by the rules alone."""
        rest: Object = decode(wire_json.encode(obj))
        outward = source == self._hub
        for items, rules in self._rules[target if outward else source]:
            for item in items_at(rest, items):
                _apply(rules, item, outward=outward)
        rest["apiVersion"] = target
        compiled = self._versions[target].compiled
        compiled.prune(rest)
        compiled.default(rest)
        return rest


def _by_items(rules: Sequence[FieldRule]) -> list[tuple[FieldPath, list[FieldRule]]]:
    """Group the rules by the path to their list items, the innermost lists first. Paths become relative to the item."""
    found: dict[FieldPath, list[FieldRule]] = {}
    for rule in rules:
        (items, hub), (_, field) = split_items(rule.hub), split_items(rule.field)
        found.setdefault(items, []).append(replace(rule, hub=hub, field=field))
    return sorted(found.items(), key=lambda each: -len(each[0]))


def _apply(rules: Sequence[FieldRule], obj: Object, *, outward: bool) -> None:
    """Move the fields that the rules name, in place. All values are taken before any is put, so fields can swap."""
    moved = [(rule, _moved(rule, obj, outward=outward)) for rule in rules]
    for rule, _ in moved:
        take(obj, rule.field if outward else rule.hub)
    for rule, value in moved:
        if value is not UNSET:
            put(obj, rule.field if outward else rule.hub, value)


def _moved(rule: FieldRule, rest: Object, *, outward: bool) -> Any:
    value = take(rest, rule.hub if outward else rule.field)
    if value is UNSET:
        return UNSET if outward else rule.default
    program = rule.program_from_hub if outward else rule.program_to_hub
    return value if program is None else evaluate(program, value)


def evaluate(program: Program, value: Any) -> Any:
    """Return the JSON value of an expression over `self`. Raises `CelError`."""
    return to_json(program.evaluate({"self": value}, Budget()))
