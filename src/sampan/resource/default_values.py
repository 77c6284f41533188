"""Defaults of declared classes that break the constraints of their fields: found when the class is declared.

The server refuses such a CRD, and a client cannot read the objects that it has written itself. Constraints in CEL are
left to the server and to `KindValidator`.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import NODEFAULT
from msgspec import inspect as types

_INCOMPLETE: Final = "Object missing required field `"
_OBJECTS: Final = (types.StructType, types.DataclassType)


def check_defaults(cls: type[Any]) -> None:
    """Raise `TypeError` if a default of the class, or of a class of its fields, breaks the constraints of its field.

    The message names class, field, default and constraint.
    """
    for owner, field in _fields(types.type_info(cls), set()):
        default = _default_of(field)
        if default is NODEFAULT or (not default and _omits_defaults(owner)):
            continue
        value = msgspec.to_builtins(default)
        try:
            # Fields are checked one after the other, and only then whether one is missing.
            msgspec.convert({field.encode_name: value}, owner)
        except msgspec.ValidationError as error:
            reason = str(error)
            if reason.startswith(_INCOMPLETE) and " - at " not in reason:
                continue
            raise TypeError(f"{owner.__name__}.{field.name}: the default {value!r} is invalid: {reason}") from None


def _default_of(field: types.Field) -> Any:
    if field.default is not NODEFAULT:
        return NODEFAULT if field.default is msgspec.UNSET else field.default
    return NODEFAULT if field.default_factory is NODEFAULT else field.default_factory()


def _omits_defaults(cls: type[Any]) -> bool:
    """Return True if an empty value is not written: then it means that the field is absent."""
    return not dataclasses.is_dataclass(cls) and cls.__struct_config__.omit_defaults


def _fields(info: Any, visited: set[type[Any]]) -> Iterator[tuple[type[Any], types.Field]]:
    """Yield all fields below a type, with their class; each class once."""
    if isinstance(info, _OBJECTS):
        if info.cls in visited:
            return
        visited.add(info.cls)
        for field in info.fields:
            yield info.cls, field
            yield from _fields(field.type, visited)
    for name in ("type", "item_type", "key_type", "value_type"):
        inner = getattr(info, name, None)
        if isinstance(inner, types.Type):
            yield from _fields(inner, visited)
    for name in ("types", "item_types"):
        for inner in getattr(info, name, ()):
            yield from _fields(inner, visited)
