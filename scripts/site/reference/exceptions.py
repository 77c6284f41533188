"""Exceptions of the toolkit, from its source: also those that are not public, because their names are in tracebacks."""

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from scripts.reference.definitions import SOURCE, definition_of, public_names
from scripts.reference.packages import PACKAGES

TOOLKIT: Final = (
    "sampan.client",
    "sampan.operator",
    "sampan.testing",
    "sampan.informer",
    "sampan.resource",
    "sampan.test_server",
)
"""Packages whose exceptions reach users, in the order of the page."""
_HTTP: Final = {"sampan.http.client": "sampan.client", "sampan.http.server": "sampan.operator"}
"""Packages of the toolkit whose users get the errors of HTTP."""
_SOURCES: Final = (*TOOLKIT, "sampan.http.client.errors", "sampan.http.server")
_BASES: Final = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)


@dataclass(frozen=True, slots=True)
class ToolkitException:
    """An exception class."""

    module: str
    name: str
    bases: tuple[str, ...]
    doc: str
    package: str
    """Public package that exports it; empty if none does."""

    @property
    def key(self) -> str:
        """Unique name: that of the public package, or of the package of its module."""
        return f"{self.package or self.section}.{self.name}"

    @property
    def section(self) -> str:
        """Package of the toolkit that it belongs to."""
        place = f"{self.package or self.module}."
        packages = {each: each for each in TOOLKIT} | _HTTP
        return next(package for source, package in packages.items() if place.startswith(f"{source}."))


@cache
def exceptions() -> tuple[ToolkitException, ...]:
    """Return the exceptions in the order of the packages and of their names. Private ones are omitted."""
    classes = {(module, node.name): node for module, node in _classes()}
    known: set[str] = set(_BASES)
    while True:
        found = {place for place, node in classes.items() if known.intersection(_bases(node))}
        names = known | {name for _, name in found}
        if names == known:
            break
        known = names
    public = _public()
    made = [_exception(module, classes[module, name], public) for module, name in found if not name.startswith("_")]
    return tuple(sorted(made, key=lambda each: (TOOLKIT.index(each.section), each.name.lower(), each.module)))


def _exception(module: str, node: ast.ClassDef, public: Mapping[tuple[str, str], str]) -> ToolkitException:
    package = public.get((module, node.name), "")
    return ToolkitException(module, node.name, _bases(node), ast.get_docstring(node) or "", package)


def _classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for package in _SOURCES:
        path = SOURCE.joinpath(*package.split("."))
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]:
            module = ".".join(file.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
            for node in ast.parse(file.read_text()).body:
                if isinstance(node, ast.ClassDef):
                    yield module, node


def _bases(node: ast.ClassDef) -> tuple[str, ...]:
    return tuple(ast.unparse(base).rpartition(".")[2] for base in node.bases)


def _public() -> dict[tuple[str, str], str]:
    """Return the first public package that exports a class, by the module that defines it and its name."""
    found: dict[tuple[str, str], str] = {}
    for package in PACKAGES:
        for name in public_names(package):
            definition = definition_of(package, name)
            found.setdefault((definition.module, definition.name), package)
    return found
