"""Whole objects from the schema of their kind: type, name and generated fields. They are not judged yet."""

from typing import Final

from sampan.core.object import Object
from sampan.patch.copying import copy_json
from sampan.schema.derived import derived
from sampan.schema.structural import Schema
from sampan.testing.generated.choices import Choices
from sampan.testing.generated.fitting import fit
from sampan.testing.generated.lessons import Lessons
from sampan.testing.generated.required_fields import FIELDS, NAMELESS, NAMES
from sampan.testing.generated.subject import NAMESPACE, Subject
from sampan.testing.generated.values.fields import merged
from sampan.testing.generated.values.schema_values import Generator
from sampan.testing.generated.values.semantics import Meanings

NOT_GENERATED: Final = ("apiVersion", "kind", "metadata", "status")


def framed_object(
    subject: Subject, choices: Choices, base: Object, meanings: Meanings, size: int, lessons: Lessons
) -> Object:
    """Return an object. One of a built-in kind has the fields of the valid object `base`."""
    generator = Generator(choices, meanings, size, lessons=lessons)
    body = generated_fields(subject, generator, None if subject.is_custom else base)
    if not subject.is_custom:
        fit(body)
    return _framed(subject, body, base["metadata"].get("name", ""))


def generated_fields(subject: Subject, generator: Generator, base: Object | None = None) -> Object:
    """Return the fields of an object. `base` is a valid object."""
    properties = subject.schema.properties
    base = base or {}
    always, optional = _split(subject.schema, tuple(base), subject.is_custom)
    chosen = {optional[number] for number in generator.choices.subset(len(optional), few=False)}
    return {name: generator.value(properties[name], name, base.get(name)) for name in (*always, *sorted(chosen))}


@derived
def _split(root: Schema, known: tuple[str, ...], is_custom: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the fields that each object has, and those of the further ones."""
    required = root.validations.required if root.validations is not None else ()
    # An object without a spec is rarely of use.
    needed = {*required, *known, *(("spec",) if is_custom else ())}
    names = [name for name in root.properties if name not in NOT_GENERATED]
    return tuple(name for name in names if name in needed), tuple(name for name in names if name not in needed)


def framed(subject: Subject, fields: Object, name: str) -> Object:
    """Return an object with its type and name, these fields, and the fields that its built-in kind needs."""
    key = (subject.definition.group, subject.kind)
    name = name or NAMES.get(key, "example")
    needed = {} if subject.is_custom or key not in FIELDS else copy_json(FIELDS[key](name))
    body: Object = merged(fields, needed)
    body.pop("status", None)
    return _framed(subject, body, name)


def _framed(subject: Subject, fields: Object, name: str) -> Object:
    metadata = {
        **({} if subject.definition.group in NAMELESS else {"name": name}),
        **({"namespace": NAMESPACE} if subject.definition.namespaced else {}),
    }
    return {"apiVersion": subject.api_version, "kind": subject.kind, **fields, "metadata": metadata}
