"""Types that mutations construct: `Object{…}`, `Object.spec{…}` and so on, and `JSONPatch{…}`.

Objects have no schema here: any field may be set to any value. A mutation is validated when it is applied.
Source: apiserver pkg/cel/mutation (1.36).
"""

from collections.abc import Iterator
from typing import Final

from sampan.schema.cel.syntax.ast import Expr, StructNode, walk
from sampan.schema.cel.types import DYN, STRING, CelType, struct

OBJECT: Final = "Object"
JSON_PATCH: Final[CelType] = struct("JSONPatch", {"op": STRING, "path": STRING, "from": STRING, "value": DYN})


class _AnyField(dict[str, CelType]):
    """Fields of a type that accepts any field name."""

    def get(self, key: str, default: object = None) -> CelType:
        return DYN

    def __missing__(self, key: str) -> CelType:
        return DYN


def object_types(root: Expr) -> dict[str, CelType]:
    """Return the types of the objects that a parsed expression constructs."""
    names = {node.name.removeprefix(".") for node in walk(root) if isinstance(node, StructNode)}
    return {name: CelType("struct", name, fields=_AnyField()) for name in names if is_object(name)}


def is_object(name: str) -> bool:
    """Report whether a type's name is that of an object or of a part of one."""
    return name == OBJECT or name.startswith(f"{OBJECT}.")


def name_mismatches(root: Expr) -> list[str]:
    """Return the errors in the names of parts: `spec` in an `Object` must be an `Object.spec`."""
    found = []
    for node in walk(root):
        if not isinstance(node, StructNode) or not is_object(node.name):
            continue
        for _, field, value, _ in node.entries:
            expected = f"{node.name}.{field}"
            found += [
                f'unexpected type name "{part.name}", expected "{expected}", which matches field name path from root '
                "Object type"
                for part in _outermost(value)
                if part.name != expected
            ]
    return found


def _outermost(node: Expr) -> Iterator[StructNode]:
    """Yield the objects in a value that are not inside another one."""
    if isinstance(node, StructNode):
        yield node
        return
    for child in node.children():
        yield from _outermost(child)
