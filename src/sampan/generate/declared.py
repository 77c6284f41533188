"""Search of modules for declared kinds."""

import importlib
import inspect
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any, Final

from sampan.core.gvk import GroupKind
from sampan.operator import modules_below
from sampan.resource.declare import Declaration, declaration

EXTERNAL: Final = "EXTERNAL"
"""Variable of a module whose kinds belong to another operator, if it is true."""


class SourceError(Exception):
    """A module cannot be used; the message names it and the cause."""


def load(names: Sequence[str]) -> list[type[Any]]:
    """Return all declared classes of some modules (`mypackage.types`), each once.

    A package that declares nothing itself (`harbour`) has the kinds that the modules of its subpackages define. Raises
    `SourceError` if a module cannot be imported or declares nothing.
    """
    classes: list[type[Any]] = []
    for name in names:
        found = _kinds_of(name)
        if not found:
            raise SourceError(f"{name} declares no kind: decorate a class with @resource")
        classes += [cls for cls in found if cls not in classes]
    return classes


def _kinds_of(name: str) -> list[type[Any]]:
    try:
        module = importlib.import_module(name)
        found = declared_in(module)
        below = [] if found or not hasattr(module, "__path__") else list(modules_below(module))
    except ImportError as error:
        raise SourceError(f"cannot import {name}: {error} (is its folder on PYTHONPATH?)") from error
    # A class that a module below only imports may be of another package, whose CRD is not written here.
    return found + [cls for each in below for cls in own_kinds(each) if not getattr(each, EXTERNAL, False)]


def own_kinds(module: ModuleType) -> list[type[Any]]:
    """Return the declared classes that a module defines itself."""
    return [cls for cls in declared_in(module) if cls.__module__ == module.__name__]


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
