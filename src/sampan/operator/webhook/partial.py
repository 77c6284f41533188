"""`completed`: part of an object with zero values for what its type requires, as Go decodes it.

An API server converts parts of objects. If a manager applies an object in another version than before, the server
removes the fields of the earlier apply, and converts the rest. Required fields may be missing then. The server uses
only the names of the fields in the result. Source: structured-merge-diff merge/update.go `prune` (6.3).
"""

from typing import Any, Final

from msgspec import inspect

from sampan.resource import Object

_ZEROS: Final[dict[type[inspect.Type], Any]] = {
    inspect.AnyType: None,
    inspect.NoneType: None,
    inspect.BoolType: False,
    inspect.FloatType: 0.0,
    inspect.StrType: "",
}


def completed(obj: Object, cls: type[Any]) -> Object:
    """Return a copy of an object in which each required field of the class has a value. Null counts as missing.

    Raises `TypeError` if the class is no struct.
    """
    found = inspect.type_info(cls)
    if not isinstance(found, inspect.StructType):
        raise TypeError(f"{cls.__name__} is no struct")
    result: Object = _completed(obj, found)
    return result


def _completed(value: Any, type_: inspect.Type) -> Any:
    """Return a value that is there with its missing parts. A value of another type stays, so that decoding names it."""
    type_ = _unwrapped(type_)
    if isinstance(type_, inspect.StructType) and isinstance(value, dict):
        parts = dict(value)
        for field in type_.fields:
            name = field.encode_name
            if parts.get(name) is not None:
                parts[name] = _completed(parts[name], field.type)
            elif field.required:
                parts[name] = _zero(field.type)
        return parts
    if isinstance(type_, inspect.ListType) and isinstance(value, list):
        return [_completed(each, type_.item_type) for each in value]
    if isinstance(type_, inspect.DictType) and isinstance(value, dict):
        return {key: _completed(each, type_.value_type) for key, each in value.items()}
    return value


def _zero(type_: inspect.Type) -> Any:
    """Return the zero value of a type. One with limits gets the value next to zero that they permit."""
    type_ = _unwrapped(type_)
    if isinstance(type_, inspect.StructType):
        return _completed({}, type_)
    if isinstance(type_, inspect.IntType):
        low = type_.ge if type_.ge is not None else None if type_.gt is None else type_.gt + 1
        high = type_.le if type_.le is not None else None if type_.lt is None else type_.lt - 1
        return max(low or 0, 0) if high is None or high >= 0 else high
    if isinstance(type_, inspect.LiteralType):
        return type_.values[0]
    if isinstance(type_, inspect.EnumType):
        return next(iter(type_.cls)).value
    if isinstance(type_, inspect.DictType | inspect.TypedDictType):
        return {}
    if isinstance(type_, inspect.ListType | inspect.SetType | inspect.VarTupleType):
        return []
    return _ZEROS.get(type(type_))


def _unwrapped(type_: inspect.Type) -> inspect.Type:
    """Return the type below its description; of an optional type, the other one."""
    while isinstance(type_, inspect.Metadata):
        type_ = type_.type
    if isinstance(type_, inspect.UnionType):
        remaining = [each for each in type_.types if not isinstance(each, inspect.NoneType)]
        return _unwrapped(remaining[0]) if len(remaining) == 1 else type_
    return type_
