"""`LenientReader`: reads objects as Go clients do, for classes generated from a schema.

A server may have objects that do not fit the current schema. Go writes empty lists and times as null. Objects stored
under an earlier schema may lack fields that are required now, or have values that are not in an enumeration.
"""

import base64
from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import inspect as types

_ABSENT: Final = object()
_EXPECTED: Final[dict[type[types.Type], tuple[str, tuple[type[Any], ...]]]] = {
    types.StrType: ("str", (str,)),
    types.IntType: ("int", (int,)),
    types.FloatType: ("float", (int, float)),
    types.BoolType: ("bool", (bool,)),
}


class LenientReader:
    """Creates an object of a class from JSON data.

    A required field that is missing or null gets the zero value of its type. Any other field that is null gets its
    default. An enumeration may have any value, and a number without a fraction is an integer.
    """

    def __init__(self, cls: type[Any]) -> None:
        self._info = types.type_info(cls)

    def read(self, data: Any) -> Any:
        """Create the object. Raises `ValueError` with the path for a value of another type."""
        return _value(self._info, data, "$")


def _value(info: types.Type, data: Any, path: str) -> Any:
    if isinstance(info, types.Metadata):
        return _value(info.type, data, path)
    if data is None and not _takes_null(info):
        return _zero(info)
    read = _READERS.get(type(info))
    return data if read is None else read(info, data, path)


def _struct(info: Any, data: Any, path: str) -> Any:
    if not isinstance(data, dict):
        raise _wrong("object", data, path)
    arguments = {}
    for field in info.fields:
        value = data.get(field.encode_name, _ABSENT)
        if value is _ABSENT or (value is None and not _takes_null(field.type)):
            if field.required:
                arguments[field.name] = _zero(field.type)
        else:
            arguments[field.name] = _value(field.type, value, f"{path}.{field.encode_name}")
    return info.cls(**arguments)


def _list(info: Any, data: Any, path: str) -> Any:
    if not isinstance(data, list):
        raise _wrong("array", data, path)
    return [_value(info.item_type, value, f"{path}[{index}]") for index, value in enumerate(data)]


def _map(info: Any, data: Any, path: str) -> Any:
    if not isinstance(data, dict):
        raise _wrong("object", data, path)
    return {key: _value(info.value_type, value, f"{path}.{key}") for key, value in data.items()}


def _union(info: Any, data: Any, path: str) -> Any:
    if data is None:
        return None
    members = [member for member in info.types if not isinstance(member, types.NoneType)]
    for member in members[:-1]:
        try:
            return _value(member, data, path)
        except ValueError:
            continue
    return _value(members[-1], data, path)


def _scalar(info: types.Type, data: Any, path: str) -> Any:
    name, allowed = _EXPECTED[type(info)]
    if name == "int" and isinstance(data, float) and data.is_integer():
        return int(data)
    if not isinstance(data, allowed) or (isinstance(data, bool) and name != "bool"):
        raise _wrong(name, data, path)
    return data


def _bytes(info: types.Type, data: Any, path: str) -> bytes:
    try:
        return base64.b64decode("".join(data.split()), validate=True)
    except (AttributeError, ValueError) as error:
        raise ValueError(f"Invalid base64 - at `{path}`") from error


_READERS: Final[dict[type[types.Type], Callable[[Any, Any, str], Any]]] = {
    types.StructType: _struct,
    types.DataclassType: _struct,
    types.ListType: _list,
    types.DictType: _map,
    types.UnionType: _union,
    types.BytesType: _bytes,
    **dict.fromkeys(_EXPECTED, _scalar),
}


_CONTAINERS: Final[dict[type[types.Type], Callable[[], Any]]] = {
    types.ListType: list,
    types.DictType: dict,
    types.BytesType: bytes,
}


def _takes_null(info: types.Type) -> bool:
    if isinstance(info, types.Metadata):
        return _takes_null(info.type)
    if isinstance(info, types.UnionType):
        return any(_takes_null(member) for member in info.types)
    return isinstance(info, types.NoneType | types.AnyType)


def _zero(info: types.Type) -> Any:
    """Return the zero value of a type, as Go defines it."""
    if isinstance(info, types.Metadata):
        return _zero(info.type)
    if _takes_null(info):
        return None
    if isinstance(info, types.UnionType):
        return _zero(info.types[0])
    if isinstance(info, types.StructType | types.DataclassType):
        return _struct(info, {}, "")
    zeros: dict[type[types.Type], Any] = {types.IntType: 0, types.FloatType: 0.0, types.BoolType: False}
    make = _CONTAINERS.get(type(info))
    return make() if make is not None else zeros.get(type(info), "")


def _wrong(expected: str, data: Any, path: str) -> msgspec.ValidationError:
    names: dict[type[Any], str] = {dict: "object", list: "array", type(None): "null"}
    got = names.get(type(data), type(data).__name__)
    return msgspec.ValidationError(f"Expected `{expected}`, got `{got}` - at `{path}`")
