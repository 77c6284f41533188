"""Parse the `fieldPath` of rules: `.spec.replicas`, `['my-field']`.

Source: apiextensions-apiserver pkg/apiserver/schema/cel/validation.go (1.36).
"""

import re

from sampan.core.field import Path
from sampan.schema.structural import Schema

_TOKEN = re.compile(r"'(?:[^']|(?<=\\)')*'|[.\[\]]|[^.\[\]']+'?|'")
_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\",
}  # fmt: skip


class FieldPathError(ValueError):
    """The path is malformed or does not exist in the schema."""


def _unescaped(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise FieldPathError(f"invalid string literal: invalid escape char {match[0]}")
        return _ESCAPES[match[1]]

    return re.sub(r"\\(.)", replace, text, flags=re.DOTALL)


def _step(schema: Schema, path: Path, name: str) -> tuple[Schema, Path]:
    if schema.properties:
        child = schema.properties.get(name)
        if child is None:
            raise FieldPathError("does not refer to a valid field")
        return child, path.child(name)
    if isinstance(schema.additional_properties, Schema):
        return schema.additional_properties, path.key(name)
    raise FieldPathError("does not refer to a valid field")


def field_path(text: str, schema: Schema) -> str:
    """Return the path in the form of error messages, relative to the schema node. **Raises** FieldPathError."""
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != text:
        raise FieldPathError("does not refer to a valid field")
    path = Path()
    position = 0

    def following() -> str:
        nonlocal position
        if position >= len(tokens):
            raise FieldPathError("unexpected end of JSON path")
        position += 1
        return str(tokens[position - 1])

    while position < len(tokens):
        token = following()
        if token == ".":
            schema, path = _step(schema, path, following())
        elif token == "[":
            quoted = following()
            if len(quoted) < 2 or quoted[0] != "'" or quoted[-1] != "'":
                raise FieldPathError(f"expected single quoted string but got {quoted}")
            schema, path = _step(schema, path, _unescaped(quoted[1:-1]))
            closing = following()
            if closing != "]":
                raise FieldPathError(f"expected ] but got {closing}")
        else:
            raise FieldPathError(f"expected [ or . but got: {token}")
    return str(path) if text else ""
