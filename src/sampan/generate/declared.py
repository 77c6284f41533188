"""Search of modules for declared kinds."""

import importlib
import inspect
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

from sampan.core.gvk import GroupKind
from sampan.resource.declare import Declaration, declaration


class SourceError(Exception):
    """A module cannot be used; the message names it and the cause."""


def load(names: Sequence[str]) -> list[type[Any]]:
    """Return all declared classes of some modules (`mypackage.types`), each once.

    Raises `SourceError` if a module cannot be imported or declares nothing.
    """
    classes: list[type[Any]] = []
    for name in names:
        found = declared_in(_import(name))
        if not found:
            raise SourceError(f"{name} declares no kind: decorate a class with @resource")
        classes += [cls for cls in found if cls not in classes]
    return classes


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SourceError(f"cannot import {name}: {error} (is its folder on PYTHONPATH?)") from error


def declared_in(module: ModuleType) -> list[type[Any]]:
    """Return the declared classes in a module, including imported ones, in order of definition."""
    return [cls for cls in vars(module).values() if inspect.isclass(cls) and is_declared(cls)]


def is_declared(cls: type[Any]) -> bool:
    """Return True if `@resource` decorates this class itself, not just a base class."""
    return isinstance(vars(cls).get("__declaration__"), Declaration)


def by_kind(classes: Iterable[type[Any]]) -> dict[GroupKind, list[type[Any]]]:
    """Group versions by kind. Kinds are sorted by group and name; versions keep their order."""
    kinds: dict[GroupKind, list[type[Any]]] = {}
    for cls in classes:
        kinds.setdefault(declaration(cls).info.gvk.group_kind, []).append(cls)
    return dict(sorted(kinds.items()))
