"""Types of the built-in kinds, for type checkers and editors: one module for each version of a group.

    from sampan.kinds import apps_v1

    def replicas(deployment: apps_v1.Deployment) -> int:
        return deployment["spec"].get("replicas", 1)

Objects are still plain dicts. A module is loaded when one of its names is first used. So the import above costs nothing
in a module with `from __future__ import annotations`.
"""

import importlib
import importlib.util
from types import ModuleType
from typing import Any


class _Unloaded(ModuleType):
    """Stands for a module until one of its names is used.

    It is not in `sys.modules`: programs that look at each loaded module must not load these.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(self.__name__), name)

    def __dir__(self) -> list[str]:
        return dir(importlib.import_module(self.__name__))


def __getattr__(name: str) -> ModuleType:
    """Return a module of this package, which is loaded when one of its names is used."""
    if name.startswith("_") or importlib.util.find_spec(f"{__name__}.{name}") is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module: ModuleType = globals().setdefault(name, _Unloaded(f"{__name__}.{name}"))
    return module
