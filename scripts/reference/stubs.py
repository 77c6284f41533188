"""The public API as stubs: packages with the signatures of public names and members, without code.

`packaging/api/sampan` has those of the last release. griffe compares them with the stubs of today.
"""

import ast
import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from scripts.reference.definitions import (
    SOURCE,
    Definition,
    Function,
    constructor_of,
    definition_of,
    members_of,
)
from scripts.reference.packages import PACKAGES, names_in_order

SNAPSHOT: Final = SOURCE.parent / "packaging" / "api"
_HEAD: Final = "from dataclasses import dataclass, field\n\n"
_NOTHING: Final[Sequence[ast.stmt]] = (ast.Expr(ast.Constant(...)),)
_VALUE_MAX: Final = 80


def write_stubs(folder: Path) -> None:
    """Write the stubs of all public packages below a folder, with an empty file for each package around them."""
    for package in PACKAGES:
        place = folder.joinpath(*package.split("."))
        place.mkdir(parents=True, exist_ok=True)
        (place / "__init__.pyi").write_text(stub_of(package))
    for each in [folder / "sampan", *sorted(folder.joinpath("sampan").rglob("*/"))]:
        (each / "__init__.pyi").touch()


def stub_of(package: str) -> str:
    """Return the stub of a package: `__all__`, and the signature of each name in it."""
    names = names_in_order(package)
    found = [ast.unparse(ast.fix_missing_locations(_stub(definition_of(package, name), name))) for name in names]
    exported = "__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"
    return _HEAD + exported + "".join(f"\n{text}\n" for text in found)


def _stub(definition: Definition, name: str) -> ast.stmt:
    """Return a definition without code, under its public name."""
    node = copy.deepcopy(definition.node)
    if isinstance(node, Function):
        node.name, node.body = name, [*_NOTHING]
    elif isinstance(node, ast.ClassDef):
        node.name, node.body = name, [*_members(definition)] or [*_NOTHING]
    else:
        node = _variable(node, name)
    return node


def _variable(node: ast.stmt, name: str) -> ast.stmt:
    """Return the declaration of a variable or attribute. A long value is left out."""
    value = getattr(node, "value", None)
    short = value if value is not None and len(ast.unparse(value)) <= _VALUE_MAX else ast.Constant(...)
    if isinstance(node, ast.AnnAssign):
        return ast.AnnAssign(ast.Name(name), node.annotation, short if value is not None else None, simple=1)
    return ast.Assign([ast.Name(name)], short)


def _members(definition: Definition) -> Iterator[ast.stmt]:
    constructor = constructor_of(definition)
    if constructor is not None:
        yield _stub(constructor, "__init__")
    members = {each.name: each for each in _all_members(definition)}
    # Fields stay in their order, which is that of the constructor's parameters.
    for name, member in members.items():
        yield _stub(member, name)


def _all_members(definition: Definition) -> Iterator[Definition]:
    """Yield the members of the bases in Sampan, then those of the class."""
    for base in definition.node.bases if isinstance(definition.node, ast.ClassDef) else ():
        name = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(name, ast.Name):
            try:
                yield from _all_members(definition_of(definition.module, name.id))
            except (LookupError, FileNotFoundError):
                continue
    yield from members_of(definition)
