"""Objects that another API server has stored, and what reads them."""

from typing import Any

from sampan.core.object import Object
from sampan.registry.builtin_upgrade import BuiltinUpgrade
from sampan.registry.builtins import Builtins


def builtin_upgrade(primary_family: str = "IPv4") -> BuiltinUpgrade:
    """That of a server with all built-in kinds."""
    return BuiltinUpgrade(Builtins(), lambda: primary_family)


def stored(api_version: str, kind: str, **parts: Any) -> Object:
    """An object by the name of `a`."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, **parts}
