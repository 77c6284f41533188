"""`Check`: a rule of a level, and functions for its messages.

Source: k8s.io/pod-security-admission policy/{checks,helpers,visitor}.go (1.36).
"""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from sampan.core.object import Object


class Violation(NamedTuple):
    """Violation of a check."""

    reason: str
    detail: str


Examine = Callable[[Object, Object], Violation | None]
"""Examines the metadata and the spec of a Pod or a Pod template."""


class Check(NamedTuple):
    """One rule in all its versions."""

    id: str
    level: str
    versions: tuple[tuple[int, Examine], ...]
    """Minor version from which a function examines the rule; ascending."""
    overrides: str = ""
    """Baseline check that this restricted check replaces."""


def quoted(items: Collection[str]) -> str:
    """Return the items in quotes: `"a", "b"`."""
    return '"' + '", "'.join(items) + '"' if items else ""


def counted(items: Collection[Any], one: str, several: str = "") -> str:
    """Return the singular or the plural for the number of items."""
    return one if len(items) == 1 else several or f"{one}s"


def named(containers: list[str]) -> str:
    """Return the containers with their names: `container "a"` or `containers "a", "b"`."""
    return f"{counted(containers, 'container')} {quoted(containers)}"


def setters(is_pod: bool, containers: list[str]) -> str:
    """Return the subject of a message: the Pod, containers, or both."""
    return " and ".join((["pod"] if is_pod else []) + ([named(containers)] if containers else []))


def security(part: Object) -> Object:
    """Return the security context of a Pod's spec or of a container."""
    return part.get("securityContext") or {}


def is_windows(spec: Object) -> bool:
    """Return True if the Pod is for Windows."""
    return bool((spec.get("os") or {}).get("name") == "windows")


def has_user_namespace(spec: Object) -> bool:
    """Return True if the Pod has a user namespace, in which root has no rights on the Node."""
    return spec.get("hostUsers") is False
