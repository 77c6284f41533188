"""Parser of the rules of a HubConversion, with their faults."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sampan.core.field import FieldError, Path, duplicate, invalid, required
from sampan.core.object import Object
from sampan.registry.crd.hub.conversion import FieldRule, HubConverter, HubConverterVersion
from sampan.registry.crd.hub.field_paths import (
    ITEMS,
    FieldPath,
    overlaps,
    parse_path,
    schema_at,
    show_path,
    split_items,
)
from sampan.registry.definition import VersionDefinition
from sampan.schema.cel.environment import Environment, Program
from sampan.schema.cel.errors import CelError
from sampan.schema.cel.rules.compiled_rule import SELF
from sampan.schema.cel.rules.schema_types import schema_type
from sampan.schema.compile import CompiledSchema, validation_errors
from sampan.schema.structural import UNSET, Schema

Faults = list[FieldError]
_SPEC = Path("spec")
_KINDS = {
    "string": ("string", "timestamp", "duration", "bytes"),
    "integer": ("int", "uint"),
    "number": ("double", "int", "uint"),
    "boolean": ("bool",),
    "array": ("list",),
    "object": ("map", "struct"),
}
"""CEL types that fit each type of a schema."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Conversion that is being parsed: the hub's name, and the rules of the other versions with their positions."""

    hub: str
    rules: Mapping[str, list[tuple[Path, FieldRule]]]
    compiled: Mapping[str, CompiledSchema]
    places: Mapping[str, Path] = field(default_factory=dict)
    """Position of each version's rules. A version without rules has the position of the whole list."""

    def conversion(self, group: str) -> HubConverter:
        """Build the conversion."""
        versions = {
            name: HubConverterVersion(compiled, [rule for _, rule in self.rules.get(name, ())])
            for name, compiled in self.compiled.items()
        }
        return HubConverter(group, self.hub, versions)


def read_rules(obj: Object, versions: Mapping[str, VersionDefinition], storage: str, faults: Faults) -> Draft:
    """Parse the rules of a HubConversion for a CRD's versions. Append the faults to `faults`."""
    spec = obj.get("spec") or {}
    hub = spec.get("hubVersion") or storage
    compiled = {name: version.compiled() for name, version in versions.items() if version.compiled is not None}
    rules: dict[str, list[tuple[Path, FieldRule]]] = {}
    if hub not in compiled:
        faults.append(invalid(_SPEC.child("hubVersion"), hub, "must be a version of the CustomResourceDefinition"))
        return Draft(hub, rules, compiled)
    for index, version in enumerate(spec.get("versions") or ()):
        at, name = _SPEC.child("versions").index(index), version.get("name", "")
        if name == hub:
            faults.append(invalid(at.child("name"), name, "must not be the hub version"))
        elif name not in compiled:
            faults.append(invalid(at.child("name"), name, "must be a version of the CustomResourceDefinition"))
        elif name in rules:
            faults.append(duplicate(at.child("name"), name))
        else:
            reader = _Reader(compiled[hub].schema, compiled[name].schema, faults)
            rules[name] = reader.read(version.get("fields") or (), at.child("fields"))
    places = {name: _place(spec, name) for name in compiled.keys() - {hub}}
    for name, at in places.items():
        pairs = rules.get(name, [])
        faults += _type_faults(compiled[hub].schema, compiled[name].schema, [rule for _, rule in pairs], at)
    return Draft(hub, rules, compiled, places)


def _place(spec: Object, name: str) -> Path:
    names = [version.get("name") for version in spec.get("versions") or ()]
    at = _SPEC.child("versions")
    return at.index(names.index(name)).child("fields") if name in names else at


class _Reader:
    """Parser of the rules of one version."""

    def __init__(self, hub: Schema, own: Schema, faults: Faults) -> None:
        self._hub, self._own, self._faults = hub, own, faults

    def read(self, texts: Any, at: Path) -> list[tuple[Path, FieldRule]]:
        """Return the valid rules with their positions."""
        found: list[tuple[Path, FieldRule]] = []
        for index, text in enumerate(texts):
            rule = self._rule(text, at.index(index))
            if rule is None:
                continue
            for part, mine in (("hub", rule.hub), ("field", rule.field)):
                others = (other.hub if part == "hub" else other.field for _, other in found)
                if any(overlaps(mine, other) for other in others):
                    place = at.index(index).child(part)
                    self._faults.append(invalid(place, show_path(mine), "another rule writes this path"))
            found.append((at.index(index), rule))
        return found

    def _rule(self, text: Object, at: Path) -> FieldRule | None:
        hub, hub_schema = self._field(text.get("hub") or "", self._hub, at.child("hub"))
        name = "field" if "field" in text else "hub"
        field, own_schema = self._field(text.get(name) or "", self._own, at.child(name))
        if hub is None or field is None or hub_schema is None or own_schema is None:
            return None
        if split_items(hub)[0] != split_items(field)[0]:
            fault = f"must lead through the same lists as {show_path(hub)} of the hub"
            self._faults.append(invalid(at.child(name), show_path(field), fault))
            return None
        up = self._program(text.get("toHub"), own_schema, hub_schema, at.child("toHub"))
        down = self._program(text.get("fromHub"), hub_schema, own_schema, at.child("fromHub"))
        if ("toHub" in text) != ("fromHub" in text):
            missing = "fromHub" if "toHub" in text else "toHub"
            self._faults.append(required(at.child(missing), "both directions are needed"))
        default = text.get("default", UNSET)
        if default is not UNSET and not _allows(hub_schema, default):
            self._faults.append(invalid(at.child("default"), default, f"{show_path(hub)} of the hub does not allow it"))
        return FieldRule(hub, field, default, up, down)

    def _field(self, text: str, schema: Schema, at: Path) -> tuple[FieldPath | None, Schema | None]:
        path = parse_path(text)
        if path is None:
            self._faults.append(invalid(at, text, "must be a path of fields, like .spec.size or .spec.ports[].number"))
            return None, None
        if path[0] in ("apiVersion", "kind", "metadata"):
            self._faults.append(invalid(at, text, "apiVersion, kind and metadata are the same in all versions"))
            return None, None
        found = schema_at(schema, path)
        if found is None:
            self._faults.append(invalid(at, text, "the schema has no such field"))
        return path, found

    def _program(self, text: str | None, source: Schema, target: Schema, at: Path) -> Program | None:
        if text is None:
            return None
        kind = schema_type(source)
        if kind is None:
            self._faults.append(invalid(at, text, "expressions cannot read a field of this type"))
            return None
        try:
            program = Environment({SELF: kind}).compile(text)
        except CelError as error:
            self._faults.append(invalid(at, text, f"compilation failed: {error}"))
            return None
        desired = _KINDS.get(target.type)
        if desired is not None and program.result_type.kind not in (*desired, "dyn"):
            self._faults.append(invalid(at, text, f"gives {program.result_type}, but the field is {target.type}"))
        return program


def _allows(schema: Schema, value: Any) -> bool:
    root = Schema(type="object", properties={"value": schema})
    return not validation_errors(root, {"value": value})


def _type_faults(hub: Schema, own: Schema, rules: list[FieldRule], at: Path) -> Iterator[FieldError]:
    """Yield a fault for each carried-over or moved field that has different types in the hub and the version."""
    for rule in rules:
        one, other = schema_at(hub, rule.hub), schema_at(own, rule.field)
        if rule.program_to_hub is None and rule.program_from_hub is None and one is not None and other is not None:
            yield from _different(one, other, rule.hub, rule.field, at)
    ruled = {rule.hub for rule in rules} | {rule.field for rule in rules}
    for name in hub.properties.keys() & own.properties.keys() - {"apiVersion", "kind", "metadata"}:
        for path, one, other in _carried(hub.properties[name], own.properties[name], (name,), ruled):
            yield from _different(one, other, path, path, at)


def _carried(
    hub: Schema, own: Schema, path: FieldPath, ruled: set[FieldPath]
) -> Iterator[tuple[FieldPath, Schema, Schema]]:
    if path in ruled:
        return
    if any(overlaps(path, other) for other in ruled) and hub.type == own.type == "object":
        for name in sorted(hub.properties.keys() & own.properties.keys()):
            yield from _carried(hub.properties[name], own.properties[name], (*path, name), ruled)
        return
    if any(overlaps(path, other) for other in ruled) and hub.items is not None and own.items is not None:
        yield from _carried(hub.items, own.items, (*path, ITEMS), ruled)
        return
    yield path, hub, own


def _different(hub: Schema, own: Schema, path: FieldPath, field: FieldPath, at: Path) -> Iterator[FieldError]:
    if (hub.type, hub.int_or_string) != (own.type, own.int_or_string):
        text = f"is {hub.type or 'any'} in the hub and {own.type or 'any'} at {show_path(field)}: it needs a rule"
        yield invalid(at, show_path(path), f"{text} with toHub and fromHub")
        return
    for name in sorted(hub.properties.keys() & own.properties.keys()):
        yield from _different(hub.properties[name], own.properties[name], (*path, name), (*field, name), at)
    if hub.items is not None and own.items is not None:
        yield from _different(hub.items, own.items, path, field, at)
    if isinstance(hub.additional_properties, Schema) and isinstance(own.additional_properties, Schema):
        yield from _different(hub.additional_properties, own.additional_properties, path, field, at)
