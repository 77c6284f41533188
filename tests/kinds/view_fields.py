"""`differences`: compares the fields of a view with the type of a kind in `sampan.kinds`."""

import inspect
import types
import typing
from collections.abc import Iterator
from typing import Any

import msgspec

_ITEMS = (list, tuple, set, frozenset)


def differences(view: Any, kind: Any) -> list[str]:
    """Return a sentence for each field of a view that the kind does not have, or that has another type there.

    Several parts of a kind may share one class, such as the sources of volumes. Then a field must be in one of them.
    """
    found = list(_compare(view, kind))
    existing = {(cls, field) for cls, field, fault in found if not fault}
    faults = [(fault, (cls, field)) for cls, field, fault in found if fault]
    return [fault for fault, key in faults if key not in existing or "no field" not in fault]


_Compared = tuple[str, str, str]
"""Class that declares the field, the field, and the difference from the kind; empty for none."""


def _compare(view: Any, kind: Any) -> Iterator[_Compared]:
    for each in _alternatives(view):
        if _is_struct(each):
            yield from _of_struct(each, kind)
        elif typing.get_origin(each) in _ITEMS and typing.get_origin(kind) is list:
            yield from _compare(typing.get_args(each)[0], typing.get_args(kind)[0])
        elif typing.get_origin(each) is dict and typing.get_origin(kind) is dict:
            yield from _compare(typing.get_args(each)[1], typing.get_args(kind)[1])


def _of_struct(view: type[msgspec.Struct], kind: Any) -> Iterator[_Compared]:
    fields = typing.get_type_hints(kind) if typing.is_typeddict(kind) else {}
    for field in msgspec.structs.fields(view):
        name = field.encode_name
        owner = next(cls.__name__ for cls in view.__mro__ if field.name in vars(cls).get("__annotations__", {}))
        if name not in fields:
            yield owner, name, f"{owner}: {_names(kind)} has no field {name}"
            continue
        found, expected = _forms(field.type), _forms(fields[name])
        fits = expected <= found or Any in found
        fault = f"{owner}: {name} of {_names(kind)} is {_names(expected)}, not {_names(found)}"
        yield owner, name, "" if fits else fault
        yield from _compare(field.type, fields[name])


def _forms(type: Any) -> set[Any]:
    """Return the forms in JSON of the values of a type."""
    return {_form(each) for each in _alternatives(type)}


def _is_struct(type: Any) -> bool:
    return inspect.isclass(type) and issubclass(type, msgspec.Struct)


def _form(type: Any) -> Any:
    origin = typing.get_origin(type)
    if type in (Any, object, msgspec.Raw):
        return Any
    if origin in _ITEMS:
        return list
    if origin is dict or typing.is_typeddict(type) or _is_struct(type):
        return dict
    return str if type is bytes else type  # `msgspec` reads bytes from base64


def _alternatives(type: Any) -> list[Any]:
    """Return the types of a union without None; a type that is no union is the only one."""
    origin = typing.get_origin(type)
    if origin in (typing.Union, types.UnionType):
        return [found for each in typing.get_args(type) for found in _alternatives(each) if found is not types.NoneType]
    if origin is typing.Literal:
        return [each.__class__ for each in typing.get_args(type)]
    return [type]


def _names(found: Any) -> str:
    each = found if isinstance(found, set) else {found}
    return " or ".join(sorted(getattr(one, "__name__", str(one)) for one in each))
