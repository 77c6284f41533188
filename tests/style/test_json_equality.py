"""Objects are compared with `same`: Python's `==` takes `true` and `1` for equal.

The test finds comparisons by the names of their sides, unless an annotation or the other side shows a type that is not
JSON. Comparisons of typed values are listed in `exact_comparisons.txt`, which may only shrink.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.style.sources import SOURCES, name_of, parse, text_of

EXACT = frozenset((Path(__file__).parent / "exact_comparisons.txt").read_text().splitlines())
"""Comparisons of values whose types a decoder has checked, or that are not JSON."""

OBJECTS = frozenset(
    [
        "obj",
        "object",
        "old",
        "new",
        "before",
        "after",
        "spec",
        "status",
        "default",
        "template",
        "parameters",
        "data",
        "present",
        "desired",
        "stored",
        "current",
        "live",
        "changed",
        "patched",
        "merged",
        "given",
        "expected",
        "actual",
        "existing",
        "wanted",
        "config",
        "body",
    ]
)
"""Names of variables, attributes and fields that usually contain an object, or any other JSON."""
OF_ANY = frozenset(["value", "item", "values", "items"])
"""Names that contain JSON if the other side is such a name, too."""
COMPARED_BY_TYPE = frozenset({"src/sampan/core/json/values.py"})
_MAKERS = frozenset(["len", "str", "int", "type", "set", "id"])
_TYPED = frozenset(
    ["str", "int", "float", "bool", "bytes", "Path", "GroupVersionKind", "UID", "Revision", "datetime", "timedelta"]
)


def compared_objects(text: str) -> Iterator[str]:
    """Yield the function and the line of each `==` and `!=` between objects."""
    tree = parse(text)
    for scope in ast.walk(tree):
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        typed = _typed_arguments(scope)
        for node in _own_nodes(scope):
            if isinstance(node, ast.Compare) and _is_comparison(node):
                sides = (node.left, node.comparators[0])
                if _are_objects(sides, typed):
                    yield f"{getattr(scope, 'name', 'lambda')}:{ast.unparse(node)}"


def _is_comparison(node: ast.Compare) -> bool:
    if isinstance(node.ops[0], ast.In | ast.NotIn):
        return isinstance(node.comparators[0], ast.ListComp | ast.List)
    return isinstance(node.ops[0], ast.Eq | ast.NotEq)


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [*ast.iter_child_nodes(scope)]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _typed_arguments(scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    found = [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]
    return frozenset(
        each.arg for each in found if each.annotation is not None and _is_typed(ast.unparse(each.annotation))
    )


def _is_typed(annotation: str) -> bool:
    return all(part.strip() in {*_TYPED, "None"} for part in annotation.strip("\"'").split("|"))


def _are_objects(sides: tuple[ast.expr, ast.expr], typed: frozenset[str]) -> bool:
    if any(_is_of_other_type(side, typed) for side in sides):
        return False
    names = [_name(side) for side in sides]
    return any(name in OBJECTS for name in names) or all(name in OF_ANY for name in names)


def _is_of_other_type(side: ast.expr, typed: frozenset[str]) -> bool:
    if isinstance(side, ast.Constant | ast.JoinedStr | ast.UnaryOp | ast.BinOp | ast.Tuple | ast.Set | ast.SetComp):
        return True
    if isinstance(side, ast.Name):
        return side.id in typed or side.id.lstrip("_").isupper()
    if isinstance(side, ast.Attribute):
        return side.attr.lstrip("_").isupper()
    return isinstance(side, ast.Call) and isinstance(side.func, ast.Name) and side.func.id in _MAKERS


def _name(side: ast.expr) -> str:
    """Return the last name of an expression: `spec` for `obj["spec"]`, `obj.get("spec", {})` and `self.spec`."""
    if isinstance(side, ast.BoolOp):
        return _name(side.values[0])
    if isinstance(side, ast.Call) and isinstance(side.func, ast.Attribute) and side.func.attr == "get" and side.args:
        return _name_of_key(side.args[0], side.func.value)
    if isinstance(side, ast.Subscript):
        return _name_of_key(side.slice, side.value)
    if isinstance(side, ast.Attribute):
        return side.attr.lstrip("_")
    return side.id.lstrip("_") if isinstance(side, ast.Name) else ""


def _name_of_key(key: ast.expr, container: ast.expr) -> str:
    if isinstance(key, ast.Constant):
        return key.value if isinstance(key.value, str) else _name(container)
    return _name(container)


def _found() -> set[str]:
    return {
        f"{name_of(path)} {found}"
        for path in SOURCES
        if name_of(path) not in COMPARED_BY_TYPE
        for found in compared_objects(text_of(path))
    }


def test_objects_are_compared_as_json() -> None:
    assert sorted(_found() - EXACT) == [], "compare JSON with `same` of core/json/values.py"


def test_the_list_of_comparisons_of_typed_values_only_shrinks() -> None:
    assert sorted(EXACT - _found()) == []


@pytest.mark.parametrize(
    "expression",
    [
        "obj == old",
        'obj.get("spec") != old.get("spec")',
        'obj["spec"] == old["spec"]',
        "before == decode(text)",
        "self._output != attributes.obj",
        "value == item",
        "made.obj in [each.obj for each in found]",
    ],
)
def test_a_comparison_of_objects_is_found(expression: str) -> None:
    assert list(compared_objects(f"def f(x):\n    return {expression}\n"))


@pytest.mark.parametrize("expression", ['value == "text"', "len(old) == len(new)", "old.name == new.name", "kind == 3"])
def test_a_comparison_of_other_values_is_not_found(expression: str) -> None:
    assert not list(compared_objects(f"def f(x):\n    return {expression}\n"))


def test_values_with_an_annotation_are_typed() -> None:
    assert not list(compared_objects("def f(old: str, new: str | None):\n    return old == new\n"))
