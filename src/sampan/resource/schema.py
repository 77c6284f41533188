"""Structural schemas from Python types, for the `openAPIV3Schema` of a declared class.

Source of the rules: apiextensions-apiserver pkg/apiserver/schema (1.36).
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import NODEFAULT
from msgspec import inspect as types

Schema = dict[str, Any]

_RANGES = {"ge": "minimum", "le": "maximum", "multiple_of": "multipleOf"}
_LENGTHS = {"min_length": "minLength", "max_length": "maxLength"}
_ITEMS = {"min_length": "minItems", "max_length": "maxItems"}
_PROPERTIES = {"min_length": "minProperties", "max_length": "maxProperties"}


class SchemaError(TypeError):
    """A Python type has no structural schema; the message names the field."""


def schema_of(cls: Any, path: str = "") -> Schema:
    """Return the schema of a type: a Struct, a dataclass, or any type that their fields may have.

    Raises `SchemaError` for types without structural schema: recursive ones, unions of several shapes, maps whose keys
    are not strings.
    """
    return _Walk(()).of(types.type_info(cls), path or getattr(cls, "__name__", ""))


def field_docs(cls: type[Any]) -> dict[str, str]:
    """Return the docstrings below a class's fields, by field; empty if the source is not available."""
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__[:-1]):
        docs.update(_docs_in(base))
    return docs


def _docs_in(cls: type[Any]) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return
    definition = tree.body[0]
    if not isinstance(definition, ast.ClassDef):
        return
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
            yield field.target.id, unwrapped(inspect.cleandoc(below.value.value))


_own_line = re.compile(r"[-*] |[0-9]+[.)] | ")


def unwrapped(text: str) -> str:
    """Join the lines of each paragraph in a docstring; lists and indented lines stay as they are."""
    lines: list[str] = []
    for line in text.split("\n"):
        continues = lines and lines[-1] and line and not _own_line.match(line) and not _own_line.match(lines[-1])
        if continues:
            lines[-1] += f" {line}"
        else:
            lines.append(line)
    return "\n".join(lines)


class _Walk:
    """Recursion into a type. `above`: classes that enclose the current type, to detect recursive types."""

    def __init__(self, above: tuple[type[Any], ...]) -> None:
        self._above = above

    def of(self, info: types.Type, path: str) -> Schema:
        """Return the schema of one type."""
        if isinstance(info, types.Metadata):
            schema = self.of(info.type, path)
            schema.update(info.extra_json_schema or {})
            return _ordered(schema)
        if isinstance(info, types.StructType | types.DataclassType | types.TypedDictType):
            return self._object(info, path)
        if isinstance(info, types.UnionType):
            return self._union(info, path)
        if isinstance(info, types.ListType | types.SetType | types.FrozenSetType | types.VarTupleType):
            return self._list(info, path)
        if isinstance(info, types.DictType):
            return self._map(info, path)
        return _scalar(info, path)

    def _object(self, info: Any, path: str) -> Schema:
        cls = info.cls
        if cls in self._above:
            raise SchemaError(f"{path}: {cls.__name__} contains itself; a structural schema cannot be recursive")
        inside = _Walk((*self._above, cls))
        docs = field_docs(cls)
        properties: Schema = {}
        required: list[str] = []
        for field in info.fields:
            schema = inside.of(field.type, f"{path}.{field.encode_name}")
            if field.name in docs:
                schema.setdefault("description", docs[field.name])
            default = _default_of(field)
            if default is not NODEFAULT:
                schema["default"] = default
            if field.required:
                required.append(field.encode_name)
            properties[field.encode_name] = _ordered(schema)
        schema = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        text = inspect.getdoc(cls)
        if text and text != inspect.getdoc(cls.__mro__[1]) and not text.startswith(f"{cls.__name__}("):
            schema["description"] = unwrapped(text)
        return _ordered(schema)

    def _union(self, info: types.UnionType, path: str) -> Schema:
        some = [each for each in info.types if not isinstance(each, types.NoneType)]
        if len(some) == 1:
            return self.of(some[0], path)
        if {type(each) for each in some} == {types.IntType, types.StrType}:
            return {"x-kubernetes-int-or-string": True}
        if {type(each) for each in some} == {types.IntType, types.FloatType}:
            return {"type": "number"}
        raise SchemaError(f"{path}: a union of several types has no structural schema; use optional fields instead")

    def _list(self, info: Any, path: str) -> Schema:
        schema = {"type": "array", "items": self.of(info.item_type, f"{path}[]"), **_bounds(info, _ITEMS)}
        if not isinstance(info, types.ListType | types.VarTupleType):
            schema["x-kubernetes-list-type"] = "set"
        return schema

    def _map(self, info: types.DictType, path: str) -> Schema:
        if not isinstance(info.key_type, types.StrType | types.AnyType):
            raise SchemaError(f"{path}: the keys of a map must be strings")
        schema: Schema = {"type": "object", **_bounds(info, _PROPERTIES)}
        if isinstance(info.value_type, types.AnyType):
            schema["x-kubernetes-preserve-unknown-fields"] = True
        else:
            schema["additionalProperties"] = self.of(info.value_type, f"{path}[*]")
        return schema


_PLAIN: dict[type[types.Type], Schema] = {
    types.BoolType: {"type": "boolean"},
    types.DateTimeType: {"type": "string", "format": "date-time"},
    types.DateType: {"type": "string", "format": "date"},
    types.UUIDType: {"type": "string", "format": "uuid"},
    types.AnyType: {"x-kubernetes-preserve-unknown-fields": True},
    types.RawType: {"x-kubernetes-preserve-unknown-fields": True},
}


def _scalar(info: types.Type, path: str) -> Schema:
    plain = _PLAIN.get(type(info))
    if plain is not None:
        return dict(plain)
    if isinstance(info, types.StrType):
        pattern = {"pattern": info.pattern} if info.pattern else {}
        return {"type": "string", **_bounds(info, _LENGTHS), **pattern}
    if isinstance(info, types.BytesType):
        return {"type": "string", "format": "byte", **_bounds(info, _LENGTHS)}
    if isinstance(info, types.IntType):
        return {"type": "integer", "format": "int64", **_range(info)}
    if isinstance(info, types.FloatType):
        return {"type": "number", "format": "double", **_range(info)}
    if isinstance(info, types.LiteralType):
        return _enumeration(list(info.values), path)
    if isinstance(info, types.EnumType):
        return _enumeration([member.value for member in info.cls], path)
    raise SchemaError(f"{path}: {type(info).__name__.removesuffix('Type')} has no structural schema")


def _enumeration(values: list[Any], path: str) -> Schema:
    if all(isinstance(value, str) for value in values):
        return {"type": "string", "enum": values}
    if all(isinstance(value, int) for value in values):
        return {"type": "integer", "enum": values}
    raise SchemaError(f"{path}: the values of an enumeration must be all strings or all integers")


def _bounds(info: Any, names: dict[str, str]) -> Schema:
    return {keyword: getattr(info, name) for name, keyword in names.items() if getattr(info, name) is not None}


def _range(info: Any) -> Schema:
    schema = _bounds(info, _RANGES)
    if info.gt is not None:
        schema.update(minimum=info.gt, exclusiveMinimum=True)
    if info.lt is not None:
        schema.update(maximum=info.lt, exclusiveMaximum=True)
    return schema


def _default_of(field: types.Field) -> Any:
    """Return the default that the server fills in. A zero value (None, "", 0, False, an empty list or map) means that
    there is no default.
    """
    if field.default is not NODEFAULT:
        absent = field.default is msgspec.UNSET or not field.default
        return NODEFAULT if absent else msgspec.to_builtins(field.default)
    if field.default_factory is NODEFAULT:
        return NODEFAULT
    value = msgspec.to_builtins(field.default_factory())
    if isinstance(value, dict) and isinstance(_inner(field.type), types.StructType | types.DataclassType):
        # The server fills in an empty object; the defaults of its fields apply afterwards.
        return {}
    return value or NODEFAULT


def _inner(info: types.Type) -> types.Type:
    return _inner(info.type) if isinstance(info, types.Metadata) else info


_FIRST = ("description", "type", "format")


def _ordered(schema: Schema) -> Schema:
    """Sort keywords: description, type and format first, then by name."""
    rest = sorted(name for name in schema if name not in _FIRST)
    return {name: schema[name] for name in (*_FIRST, *rest) if name in schema}
