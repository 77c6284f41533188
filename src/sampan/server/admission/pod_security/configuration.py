"""What a PodSecurityConfiguration says: defaults and exemptions.

Source: k8s.io/pod-security-admission admission/api/{load,validation} (1.36).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sampan.core.field import FieldError, Path, aggregate, invalid
from sampan.core.object import Object
from sampan.server.admission.pod_security.policy import (
    MODES,
    PRIVILEGED_POLICY,
    LevelVersion,
    Policy,
    parse_level,
    parse_version,
)

_KIND: Final = "PodSecurityConfiguration"


@dataclass(frozen=True, slots=True)
class Configuration:
    """Who need not obey, and what a namespace without labels wants."""

    defaults: Policy = PRIVILEGED_POLICY
    usernames: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()


def read_configuration(said: Object) -> Configuration:
    """Raises `ValueError` for what makes no sense."""
    if said and said.get("kind", _KIND) != _KIND:
        raise ValueError(f"expected {_KIND}, got {said['kind']}")
    exemptions = said.get("exemptions") or {}
    return Configuration(
        _defaults(said.get("defaults") or {}),
        frozenset(exemptions.get("usernames") or ()),
        frozenset(exemptions.get("namespaces") or ()),
        frozenset(exemptions.get("runtimeClasses") or ()),
    )


def _defaults(said: Mapping[str, Any]) -> Policy:
    found: dict[str, LevelVersion] = {}
    faults: list[FieldError] = []
    for mode in MODES:
        level, minor = LevelVersion()
        try:
            level = parse_level(said.get(mode) or level)
        except ValueError as error:
            faults.append(invalid(Path("defaults", mode), said[mode], str(error)))
        try:
            minor = parse_version(said.get(f"{mode}-version") or "latest")
        except ValueError as error:
            faults.append(invalid(Path("defaults", f"{mode}-version"), said[f"{mode}-version"], str(error)))
        found[mode] = LevelVersion(level, minor)
    if faults:
        raise ValueError(aggregate(faults))
    return Policy(**found)
