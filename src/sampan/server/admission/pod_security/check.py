"""What a check is, and the words that checks share.

Source: k8s.io/pod-security-admission policy/{checks,helpers,visitor}.go (1.36).
"""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from sampan.core.object import Object


class Violation(NamedTuple):
    """Why a Pod does not pass a check."""

    reason: str
    detail: str


Examine = Callable[[Object, Object], Violation | None]
"""Looks at the metadata and the spec of a Pod, or of a template of Pods."""


class Check(NamedTuple):
    """One rule through the versions."""

    id: str
    level: str
    versions: tuple[tuple[int, Examine], ...]
    """From which minor version on it is examined how; ascending."""
    overrides: str = ""
    """The baseline check that this restricted one makes needless."""


def quoted(items: Collection[str]) -> str:
    """`"a", "b"`."""
    return '"' + '", "'.join(items) + '"' if items else ""


def counted(items: Collection[Any], one: str, several: str = "") -> str:
    """The word for so many."""
    return one if len(items) == 1 else several or f"{one}s"


def named(containers: list[str]) -> str:
    """`container "a"`, `containers "a", "b"`."""
    return f"{counted(containers, 'container')} {quoted(containers)}"


def setters(is_pod: bool, containers: list[str]) -> str:
    """Who has set something: the Pod, containers, or both."""
    return " and ".join((["pod"] if is_pod else []) + ([named(containers)] if containers else []))


def security(part: Object) -> Object:
    """The security context of a Pod's spec or of a container."""
    return part.get("securityContext") or {}


def is_windows(spec: Object) -> bool:
    """Whether the Pod says that it is for Windows."""
    return bool((spec.get("os") or {}).get("name") == "windows")


def has_user_namespace(spec: Object) -> bool:
    """Whether root in the Pod is nobody outside of it."""
    return spec.get("hostUsers") is False
