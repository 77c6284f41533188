"""Types of the built-in kinds, for type checkers and editors: one module for each version of a group.

    from sampan.kinds import apps_v1

    def replicas(deployment: apps_v1.Deployment) -> int:
        return deployment["spec"].get("replicas", 1)

Objects are still plain dicts. A module is loaded when one of its names is first used. So the import above costs nothing
in a module with `from __future__ import annotations`.
"""

import importlib.util
import sys
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Return a module of this package that loads itself when it is first used."""
    spec = None if name.startswith("_") else importlib.util.find_spec(f"{__name__}.{name}")
    if spec is None or spec.loader is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = globals()[name] = module
    spec.loader.exec_module(module)
    return module
