"""Losses of a conversion, found by converting generated values and objects there and back."""

from collections.abc import Iterator
from typing import Any

from sampan.core.errors import StatusError
from sampan.core.field import FieldError, Path, invalid
from sampan.core.object import Object
from sampan.registry.crd.hub.conversion import FieldRule, evaluate
from sampan.registry.crd.hub.field_paths import schema_at, show_path
from sampan.registry.crd.hub.preserved import entries_between
from sampan.registry.crd.hub.rules import Draft
from sampan.registry.crd.hub.samples import sample_objects, sample_values
from sampan.schema.cel.environment import Program
from sampan.schema.cel.errors import CelError
from sampan.schema.compile import CompiledSchema, SchemaCompiler
from sampan.schema.structural import Schema


def losses(draft: Draft, group: str, kind: str, compiler: SchemaCompiler) -> Iterator[FieldError]:
    """Yield a fault for each rule whose expressions do not invert each other.

    Then yield a fault for each version whose objects change when they are converted there and back, unless a fault of a
    rule explains that.
    """
    faulty = set[str]()
    for name, rules in draft.rules.items():
        for at, rule in rules:
            hub, own = draft.compiled[draft.hub].schema, draft.compiled[name].schema
            for fault in _rule_losses(rule, at, hub, own, compiler):
                faulty.add(name)
                yield fault
    conversion = draft.conversion(group)
    hub_version = f"{group}/{draft.hub}"
    for name, at in draft.places.items():
        if name in faulty:
            continue
        for source, target in ((hub_version, f"{group}/{name}"), (f"{group}/{name}", hub_version)):
            compiled = draft.compiled[source.rpartition("/")[2]]
            for sample in sample_objects(compiled.schema, compiled, source, kind):
                try:
                    back = conversion.convert(conversion.convert(sample, target), source)
                except StatusError as error:
                    yield invalid(at, name, error.message)
                    break
                if lost := _lost(sample, back):
                    yield invalid(at, name, f"{source} to {target} and back loses {lost}")
                    break


def _lost(sample: Object, back: Object) -> str:
    if sample["metadata"] != back["metadata"]:
        return ".metadata"
    entries = entries_between(sample, back)
    return show_path(tuple(entries[0]["path"])) if entries else ""


def _rule_losses(rule: FieldRule, at: Path, hub: Schema, own: Schema, compiler: SchemaCompiler) -> Iterator[FieldError]:
    up, down = rule.program_to_hub, rule.program_from_hub
    hub_schema, own_schema = schema_at(hub, rule.hub), schema_at(own, rule.field)
    if up is None or down is None or hub_schema is None or own_schema is None:
        return
    ways = (
        ("fromHub", down, up, CompiledSchema(hub_schema, compiler), CompiledSchema(own_schema, compiler), rule.hub),
        ("toHub", up, down, CompiledSchema(own_schema, compiler), CompiledSchema(hub_schema, compiler), rule.field),
    )
    for name, there, back, source, target, path in ways:
        for value in sample_values(source.schema, source):
            text = _loss(value, there, back, target)
            if text:
                yield invalid(at.child(name), there.expression, f"{show_path(path)} gets lost: {text}")
                break


def _loss(value: Any, there: Program, back: Program, target: CompiledSchema) -> str:
    """Return the reason why a value changes when it is converted there and back; "" if it does not change."""
    try:
        there_value = evaluate(there, value)
        if target.validate(there_value):
            return f"{value!r} becomes {there_value!r}, which the schema does not allow"
        returned = evaluate(back, there_value)
    except CelError as error:
        return f"no value for {value!r}: {error}"
    if returned == value and isinstance(returned, bool) == isinstance(value, bool):
        return ""
    return f"{value!r} becomes {there_value!r} and comes back as {returned!r}"
