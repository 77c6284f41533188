"""Plug-in for mypy: a misspelt field in `get` on a type of `sampan.kinds` is an error.

    [tool.mypy]
    plugins = ["sampan.mypy_plugin"]

Without it, mypy infers `object` for `deployment.get("sttus")`, because a TypedDict may have more keys than it declares.
"""

from collections.abc import Callable

from mypy.errorcodes import TYPEDDICT_ITEM
from mypy.nodes import StrExpr
from mypy.plugin import MethodContext, Plugin
from mypy.plugins.default import typed_dict_get_callback
from mypy.types import AnyType, Type, TypedDictType, TypeOfAny

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
    if isinstance(typed, TypedDictType) and typed.fallback.type.fullname.startswith(_PACKAGE):
        key = context.args[0][0]
        if isinstance(key, StrExpr) and key.value not in typed.items:
            name = typed.fallback.type.name
            context.api.fail(f'TypedDict "{name}" has no key "{key.value}"', key, code=TYPEDDICT_ITEM)
            return AnyType(TypeOfAny.from_error)
    return typed_dict_get_callback(context)
