"""Kubernetes' internal form of objects, which errors show where a value is of a struct type: every field of the struct,
in its order, by its name in Go.

The facts come from `data/internal.json` (made by `make kinds`), read when the first such error is told.
"""

import functools
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from sampan.core.field import FieldError, Shown, go_json
from sampan.core.object import Object
from sampan.registry.definition import ResourceDefinition

_DATA = Path(__file__).parent / "data" / "internal.json"
_POD_SPEC = "core.PodSpec"
_HOST_FIELDS = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
"""Fields of a pod's spec that are part of its security context internally."""
_SCALARS: dict[str, Any] = {"s": "", "i": 0, "b": False}
_next_step = re.compile(r"\[[^\]]*\]|[^.\[\]]+").finditer


class InternalTypes:
    """The structs by name, each with its fields: `"<name> <type>"`, see `scripts/kinds/internal_types.py`."""

    def __init__(self, structs: dict[str, list[str]]) -> None:
        self._fields = {name: [_field(text) for text in texts] for name, texts in structs.items()}

    def root(self, definition: ResourceDefinition) -> str | None:
        """The internal type of a resource's objects; None: it is not known."""
        name = f"{definition.group.partition('.')[0] or 'core'}.{definition.kind}"
        name = "core.Event" if name == "events.Event" else name
        return name if definition.builtin and name in self._fields else None

    def below(self, kind: str, path: str) -> str | None:
        """The type of what a path (`spec.containers[0].env`) leads to; None: it is not known."""
        found: str | None = kind
        for match in _next_step(path):
            if found is None:
                return None
            found = found.lstrip("*")
            step = match[0]
            if step[0] == "[":
                found = found[2:] if found[:2] in ("[]", "{}") else None
            else:
                found = self._member(found, step.lower())
        return found

    def _member(self, kind: str, name: str) -> str | None:
        for member, below, _ in self._fields.get(kind, ()):
            if member == "." and name == "metadata" and below == "meta.ObjectMeta":
                return below
            found = self._member(below, name) if member == "." else below if member.lower() == name else None
            if found is not None:
                return found
        return None

    def form(self, kind: str, value: Any) -> Any:
        """A value as its type shows it. What does not fit the type stays as it is."""
        if kind in _SCALARS:
            return _SCALARS[kind] if value is None else value
        if kind[0] == "=":
            return json.loads(kind[1:]) if value is None else value
        if kind[0] == "*":
            return None if value is None else self.form(kind[1:], value)
        if kind[:2] == "[]":
            if isinstance(value, dict):
                return self.form(kind[2:], value)
            return [self.form(kind[2:], item) for item in value] if isinstance(value, list) else value
        if kind[:2] == "{}":
            if not isinstance(value, dict):
                return value
            return {name: self.form(kind[2:], value[name]) for name in sorted(value)}
        return self._struct(kind, {} if value is None else value)

    def _struct(self, kind: str, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if kind == _POD_SPEC:
            value = _with_host_fields(value)
        given = {name.lower(): item for name, item in value.items()}
        result: Object = {}
        for name, below, omitted in self._fields[kind]:
            if name == ".":
                result.update(self.form(below, value.get("metadata") if below == "meta.ObjectMeta" else value))
                continue
            item = given.get(name.lower())
            if item or not omitted:
                result[name] = self.form(below, item)
        return result


def _field(text: str) -> tuple[str, str, bool]:
    name, kind, *flags = text.split(" ")
    return name, kind, bool(flags)


def _with_host_fields(spec: Object) -> Object:
    context = dict(spec.get("securityContext") or {})
    context.update({name: spec[name] for name in _HOST_FIELDS if name in spec})
    return {**spec, "securityContext": context}


@functools.cache
def internal_types() -> InternalTypes:
    """All of them, read once."""
    return InternalTypes(orjson.loads(_DATA.read_bytes()))


def shown_internally(definition: ResourceDefinition, faults: Iterable[FieldError]) -> Iterator[FieldError]:
    """Yield the faults of an object, with values of struct types in their internal form."""
    for fault in faults:
        yield _shown(definition, fault) if isinstance(fault.bad_value, dict | list) else fault


def _shown(definition: ResourceDefinition, fault: FieldError) -> FieldError:
    types = internal_types()
    root = types.root(definition)
    kind = None
    of_metadata = fault.field.removeprefix("metadata.")
    if of_metadata != fault.field:
        kind = types.below("meta.ObjectMeta", of_metadata)
    elif root is not None:
        kind = types.below(root, fault.field)
    if kind is None:
        return fault
    return FieldError(fault.type, fault.field, Shown(go_json(types.form(kind, fault.bad_value))), fault.detail)


def shown_as(kind: str, value: Any) -> Shown:
    """A value of an internal type, for faults whose path leads elsewhere."""
    return Shown(go_json(internal_types().form(kind, value)))


def pretty_lines(kind: str, value: Any) -> list[str]:
    """A value of an internal type as Go's `json.MarshalIndent` writes it with one space, in lines with their ends."""
    text = json.dumps(internal_types().form(kind, value), indent=1, ensure_ascii=False)
    escaped = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return [f"{line}\n" for line in escaped.split("\n")]
