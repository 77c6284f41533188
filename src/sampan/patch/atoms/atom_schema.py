"""Build atoms from a schema.

Source: kube-openapi pkg/schemaconv/{smd,openapi}.go; for the zero values of built-in types,
structured-merge-diff value/{structreflect,reflectcache}.go.
"""

from collections.abc import Callable
from typing import Any

from sampan.patch.atoms.atom import ATOMIC, MISSING, SCALAR, Atom
from sampan.patch.atoms.atom_list import Key, ListAtom
from sampan.patch.atoms.atom_map import DEDUCED, AnyAtom, MapAtom, StructField
from sampan.patch.atoms.object_meta import OBJECT_META
from sampan.schema.derived import derived
from sampan.schema.structural import UNSET, ListType, MapType, Schema

_SCALAR_TYPES = frozenset({"string", "integer", "number", "boolean"})
_ZERO = {"string": "", "integer": 0, "number": 0, "boolean": False}


def root_atom(schema: Schema | None) -> Atom:
    """Return the atom of a whole object. Without a schema, all types are deduced from the values."""
    return DEDUCED if schema is None else atom_of(root_schema(schema))


@derived
def root_schema(schema: Schema) -> Schema:
    """Return the schema of a whole object. The schema of a custom resource does not define metadata; this adds it."""
    metadata = schema.properties.get("metadata")
    if metadata is not None and metadata.properties:
        return schema
    return Schema(
        type="object",
        properties={
            "apiVersion": Schema(type="string"),
            "kind": Schema(type="string"),
            **schema.properties,
            "metadata": OBJECT_META,
        },
        additional_properties=schema.additional_properties,
        preserve_unknown_fields=schema.preserve_unknown_fields or not schema.properties,
    )


@derived
def atom_of(schema: Schema, preserve: bool = False) -> Atom:
    """Return the atom of a node. `preserve`: a node above keeps unknown fields."""
    preserve = preserve or schema.preserve_unknown_fields
    if schema.scalar:
        return _builtin_scalar(schema)
    if schema.type in _SCALAR_TYPES:
        return SCALAR
    if schema.type == "object":
        return _object(schema, preserve)
    if schema.type == "array":
        return _list(schema, preserve)
    if schema.int_or_string:
        return SCALAR
    if schema.properties or schema.items is not None or schema.additional_properties:
        return AnyAtom(_object(schema, preserve), _list(schema, preserve))
    return DEDUCED


def _builtin_scalar(schema: Schema) -> Atom:
    if schema.scalar == "raw":
        return ATOMIC if schema.name.endswith(".RawExtension") else DEDUCED
    return DEDUCED if schema.scalar in ("json-schema-or", "fields-v1") else SCALAR


def _object(schema: Schema, preserve: bool) -> Atom:
    if schema.map_type == MapType.ATOMIC:
        return ATOMIC
    entry = _entry(schema, preserve)
    if not schema.properties:
        return MapAtom(None, entry, exact=is_exact(schema))

    def declared(name: str) -> StructField | None:
        child = schema.properties.get(name)
        if child is None:
            return None
        return StructField("f:" + name, atom_of(child, preserve), _zero(child, schema.fields.get(name)))

    return MapAtom(declared, entry, exact=is_exact(schema))


def _entry(schema: Schema, preserve: bool) -> Callable[[], Atom]:
    additional = schema.additional_properties
    if isinstance(additional, Schema):
        return lambda: atom_of(additional, preserve)
    return lambda: DEDUCED


def _list(schema: Schema, preserve: bool) -> Atom:
    keys = list_keys(schema)
    items = schema.items
    if keys is None or items is None:
        return ATOMIC
    found: list[Key] = []
    for name in keys:
        child = items.properties.get(name)
        default = UNSET if child is None else child.default
        found.append((name, MISSING if default is UNSET else default))
    return ListAtom(tuple(found), lambda: atom_of(items, preserve), exact=is_exact(schema))


def list_keys(schema: Schema) -> tuple[str, ...] | None:
    """Return the key fields of a list's items; () for a set of scalars, None for an atomic list."""
    if schema.list_type == ListType.MAP:
        return schema.list_map_keys
    if schema.list_type == ListType.SET:
        return ()
    if schema.list_type is None and "merge" in schema.patch_strategy:
        return (schema.patch_merge_key,) if schema.patch_merge_key else ()
    return None


def _zero(child: Schema, fact: str | None) -> Any:
    """Return the value that Go writes for an unset field of a built-in type, or `MISSING` if it omits the field."""
    if fact is None:
        return MISSING
    flags = fact.partition(" ")[0]
    if "p" in flags:
        return MISSING if "o" in flags else None
    if "z" in flags:
        return MISSING
    if child.type == "object" and child.properties:
        return {}
    if child.scalar in ("time", "micro-time", "raw"):
        return None
    if child.type in ("object", "array"):
        return MISSING if "o" in flags else None
    if child.scalar == "int-or-string":
        return 0
    if child.scalar == "quantity":
        return "0"
    return MISSING if "o" in flags else _ZERO.get(child.type, MISSING)


@derived
def is_exact(schema: Schema) -> bool:
    """Report whether every value below has a fixed type. Python's `==` (where 1 equals True) is then JSON equality.

    Ignores managedFields, which are never compared.
    """
    seen: set[Schema] = set()
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if not node.type or node.scalar in ("raw", "json-schema-or", "fields-v1") or node.preserve_unknown_fields:
            if node.scalar != "int-or-string":
                return False
            continue
        waiting.extend(child for name, child in node.properties.items() if name != "managedFields")
        if isinstance(node.additional_properties, Schema):
            waiting.append(node.additional_properties)
        elif node.type == "object" and not node.properties and not node.scalar:
            return False
        if node.items is not None:
            waiting.append(node.items)
    return True
