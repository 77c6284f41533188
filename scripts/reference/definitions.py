"""Find the definition of a public name: follow the imports of a package to the statement that defines it."""

import ast
import functools
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).parents[2] / "src"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Definition:
    """A public name, or a member of a class."""

    name: str
    module: str
    node: ast.stmt
    doc: str

    @property
    def overloads(self) -> bool:
        """True if the statement is only one signature of several."""
        return isinstance(self.node, Function) and _is_decorated(self.node, "overload")


def file_of(module: str) -> Path:
    """Return the file of a module or package."""
    path = SOURCE / Path(*module.split("."))
    package = path / "__init__.py"
    return package if package.is_file() else path.with_suffix(".py")


@functools.cache
def tree_of(module: str) -> tuple[ast.Module, bool]:
    """Return the tree of a module, and True if it is a package."""
    file = file_of(module)
    return ast.parse(file.read_text()), file.name == "__init__.py"


def module_doc(module: str) -> str:
    """Return the docstring of a module."""
    return ast.get_docstring(tree_of(module)[0]) or ""


def public_names(module: str) -> list[str]:
    """Return the names in `__all__`. Raises `LookupError` if there is no such list."""
    for statement in tree_of(module)[0].body:
        if isinstance(statement, ast.Assign) and _targets(statement) == ["__all__"]:
            names: list[str] = ast.literal_eval(statement.value)
            return names
    raise LookupError(f"{module} has no __all__")


def definition_of(module: str, name: str) -> Definition:
    """Return the definition of a name. Raises `LookupError` if no module that is imported defines it."""
    body = tree_of(module)[0].body
    for found in definitions_in(body, module):
        if found.name == name and not found.overloads:
            return found
    for statement in body:
        if isinstance(statement, ast.ImportFrom) and statement.module is not None:
            for alias in statement.names:
                if (alias.asname or alias.name) == name:
                    return definition_of(statement.module, alias.name)
    raise LookupError(f"{module}.{name} is not defined")


def definitions_in(body: Sequence[ast.stmt], module: str) -> Iterator[Definition]:
    """Yield what a module or class defines. The docstring of a variable is the text after it."""
    for number, statement in enumerate(body):
        if isinstance(statement, ast.ClassDef | Function):
            yield Definition(statement.name, module, statement, ast.get_docstring(statement) or "")
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            for name in _targets(statement):
                yield Definition(name, module, statement, _text_after(body, number))


def members_of(definition: Definition) -> list[Definition]:
    """Return the public methods and fields of a class, and the attributes that `__init__` documents."""
    if not isinstance(definition.node, ast.ClassDef):
        return []
    found = [each for each in definitions_in(definition.node.body, definition.module) if not each.overloads]
    for each in list(found):
        if each.name == "__init__" and isinstance(each.node, Function):
            found += [own for own in _attributes(each.node.body, definition.module) if own.doc]
    return [each for each in found if not each.name.startswith("_") and not _is_setter(each.node)]


def constructor_of(definition: Definition) -> Definition | None:
    """Return `__init__` of a class, if it is written out."""
    body = definition.node.body if isinstance(definition.node, ast.ClassDef) else []
    found = [each for each in definitions_in(body, definition.module) if each.name == "__init__"]
    return next((each for each in found if not each.overloads), None)


def is_property(node: ast.stmt) -> bool:
    """Return True for a method that is read like an attribute."""
    return isinstance(node, Function) and (_is_decorated(node, "property") or _is_decorated(node, "cached_property"))


def _attributes(body: Sequence[ast.stmt], module: str) -> Iterator[Definition]:
    for number, statement in enumerate(body):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            yield Definition(target.attr, module, statement, _text_after(body, number))


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _text_after(body: Sequence[ast.stmt], number: int) -> str:
    following = body[number + 1] if number + 1 < len(body) else None
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        value = following.value.value
        return inspect.cleandoc(value) if isinstance(value, str) else ""
    return ""


def _is_decorated(node: Function, name: str) -> bool:
    return any(ast.unparse(each).rpartition(".")[2] == name for each in node.decorator_list)


def _is_setter(node: ast.stmt) -> bool:
    return isinstance(node, Function) and (_is_decorated(node, "setter") or _is_decorated(node, "deleter"))
