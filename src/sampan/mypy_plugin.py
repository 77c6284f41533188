"""Plug-in for mypy: a misspelt field in `get` on a type of `sampan.kinds` is an error.

    [tool.mypy]
    plugins = ["sampan.mypy_plugin"]

Without it, mypy infers `object` for `deployment.get("sttus")`, because a TypedDict may have more keys than it declares.
With it, `get(name)` in `for name in ("limits", "requests")` has the type of these fields, too.
"""

from collections.abc import Callable

from mypy.errorcodes import TYPEDDICT_ITEM
from mypy.plugin import MethodContext, Plugin
from mypy.plugins.default import typed_dict_get_callback
from mypy.types import (
    AnyType,
    Instance,
    LiteralType,
    Type,
    TypedDictType,
    TypeOfAny,
    UnionType,
    get_proper_type,
)

_PACKAGE = "sampan.kinds."


def plugin(version: str) -> type[Plugin]:
    """Return the class of the plug-in: mypy calls it with its version."""
    return KindsPlugin


class KindsPlugin(Plugin):
    """Checks the first argument of `get`."""

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Return the check for `get`; None for other methods."""
        return _get if fullname == "typing.Mapping.get" else None


def _get(context: MethodContext) -> Type:
    typed = context.type
    if not isinstance(typed, TypedDictType) or not typed.fallback.type.fullname.startswith(_PACKAGE):
        return typed_dict_get_callback(context)
    key, given = context.args[0][0], context.arg_types[0][0]
    literals = _literals(given)
    for each in literals:
        if each.value not in typed.items:
            name = typed.fallback.type.name
            context.api.fail(f'TypedDict "{name}" has no key "{each.value}"', key, code=TYPEDDICT_ITEM)
            return AnyType(TypeOfAny.from_error)
    if len(literals) > 1:
        # mypy itself finds several literals in a declared type only.
        context = context._replace(arg_types=[[UnionType(literals)], *context.arg_types[1:]])
    return typed_dict_get_callback(context)


def _literals(given: Type) -> list[LiteralType]:
    """Return the texts that an expression may have: that of a literal, or those that a loop goes through.

    Empty if other texts are possible.
    """
    proper = get_proper_type(given)
    found: list[LiteralType] = []
    for each in proper.items if isinstance(proper, UnionType) else [proper]:
        item = get_proper_type(each)
        literal = item.last_known_value if isinstance(item, Instance) else item
        if not isinstance(literal, LiteralType):
            return []
        found.append(literal)
    return found
