"""Views of control loops: null is empty, in every field of every view."""

import ast
import importlib
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect as types

from sampan.resource.view import view_decoder, view_of
from tests.style.sources import SOURCES, name_of, parse, text_of

Path = tuple[str, ...]


def views() -> Iterator[Any]:
    """Yield the classes of all views in the sources: the arguments of `view_decoder`, as their modules define them."""
    for path in SOURCES:
        name = name_of(path).removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        if "view_decoder(" not in text_of(path) or name == "sampan.resource.view":
            continue
        module = importlib.import_module(name)
        for node in ast.walk(parse(text_of(path))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "view_decoder":
                argument = ast.unparse(node.args[0])
                if argument[0].isupper() or argument[0] == "_" or "[" in argument:
                    view = eval(argument, vars(module))
                    yield pytest.param(view, id=f"{name}.{argument}")


def inner(info: types.Type) -> types.Type:
    """Return the type below annotations and below `| None`."""
    while isinstance(info, types.Metadata):
        info = info.type
    if isinstance(info, types.UnionType):
        return next((inner(each) for each in info.types if not isinstance(each, types.NoneType)), info)
    return info


def optional_fields(info: types.Type, path: Path, depth: int = 0) -> Iterator[Path]:
    """Yield the path of each field with a default, through structs and the items of lists (`[]`)."""
    info = inner(info)
    if (isinstance(info, types.ListType) and depth < 8) or (isinstance(info, types.VarTupleType) and depth < 8):
        yield from optional_fields(info.item_type, (*path, "[]"), depth + 1)
    elif isinstance(info, types.StructType) and depth < 8:
        for field in info.fields:
            below = (*path, field.encode_name)
            if not field.required:
                yield below
            yield from optional_fields(field.type, below, depth + 1)


def minimal(info: types.Type) -> Any:
    """Return JSON that the type accepts, with its required fields only."""
    info = inner(info)
    if isinstance(info, types.StructType):
        return {field.encode_name: minimal(field.type) for field in info.fields if field.required}
    if isinstance(info, types.ListType | types.VarTupleType):
        return []
    if isinstance(info, types.DictType):
        return {}
    return {types.IntType: 0, types.BoolType: False}.get(type(info), "")


def with_null(info: types.Type, path: Path, value: Any) -> Any:
    """Return minimal JSON of the type with `value` at the path; `...` leaves the field out."""
    info = inner(info)
    if not path:
        return value
    if path[0] == "[]":
        assert isinstance(info, types.ListType | types.VarTupleType)
        return [with_null(info.item_type, path[1:], value)]
    assert isinstance(info, types.StructType)
    obj = minimal(info)
    [field] = [each for each in info.fields if each.encode_name == path[0]]
    below = with_null(field.type, path[1:], value)
    if below is not ...:
        obj[path[0]] = below
    return obj


@pytest.mark.parametrize("view", list(views()))
def test_each_optional_field_of_a_view_may_be_null(view: Any) -> None:
    info, decode = types.type_info(view), view_decoder(view)
    for path in optional_fields(info, ()):
        absent = decode(msgspec.json.encode(with_null(info, path, ...)))
        null = decode(msgspec.json.encode(with_null(info, path, None)))
        assert _plain(null) == _plain(absent), path


def _plain(value: Any) -> Any:
    """Return the fields of a view that are not empty. Raw fields are decoded again, where null is empty too."""
    if isinstance(value, msgspec.Raw):
        return _plain(msgspec.json.decode(value)) if bytes(value) else None
    if isinstance(value, msgspec.Struct):
        return _plain({name: getattr(value, name) for name in value.__struct_fields__})
    if isinstance(value, dict):
        return {name: plain for name, each in value.items() if (plain := _plain(each)) not in (None, [], {})}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


class _Item(msgspec.Struct):
    name: str = ""


class _View(msgspec.Struct):
    items: list[_Item] = []
    labels: dict[str, str] = {}


def test_null_is_empty_at_any_depth() -> None:
    assert view_decoder(_View)(b'{"items":[{"name":null}],"labels":null}') == _View([_Item()])
    assert view_of({"items": None}, _View) == _View()
    assert view_decoder(_View)(b"null") == _View()
    assert view_decoder(list[_Item])(b"null") == []


def test_another_type_is_refused_with_its_path() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$\.labels"):
        view_decoder(_View)(b'{"items":null,"labels":[]}')
