"""`add_parts`: finds the parts of an operator by import, so that no list of them must be kept.

def set_up(manager: Manager) -> None:
    add_parts(manager, boats)
"""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any


def modules_below(package: ModuleType) -> Iterator[ModuleType]:
    """Import the subpackages of a package with their modules, and return them in the order of their names.

    Modules directly in the package are left out: one of them calls this function. Raises errors of the imports.
    """

    def failed(name: str) -> None:
        raise

    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if found.ispkg:
            yield (inner := import_module(found.name))
            for each in pkgutil.walk_packages(inner.__path__, f"{found.name}.", onerror=failed):
                yield import_module(each.name)


def add_parts(target: Any, package: ModuleType, function: str = "set_up") -> list[str]:
    """Call the function of this name, with `target`, in each module below the package that defines it.

    A function that a module imports is not called a second time. Returns the names of the modules.
    """
    found = []
    for module in modules_below(package):
        add = getattr(module, function, None)
        if add is not None and getattr(add, "__module__", "") == module.__name__:
            add(target)
            found.append(module.__name__)
    return found
