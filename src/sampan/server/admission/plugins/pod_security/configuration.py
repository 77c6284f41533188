"""PodSecurityConfiguration: defaults and exemptions.

Source: k8s.io/pod-security-admission admission/api/{load,validation} (1.36).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.core.field import FieldError, Path, aggregate, duplicate, invalid
from sampan.core.object import Object
from sampan.core.validation.names import dns1123_label_errors, dns1123_subdomain_errors
from sampan.server.admission.plugins.pod_security.policy import (
    MODES,
    PRIVILEGED_POLICY,
    LevelVersion,
    NamespaceLevels,
    parse_level,
    parse_version,
)


@dataclass(frozen=True, slots=True)
class PodSecurityConfiguration:
    """Exemptions, and the policy of namespaces without labels."""

    defaults: NamespaceLevels = PRIVILEGED_POLICY
    usernames: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()


def read_configuration(given: Object) -> PodSecurityConfiguration:
    """Parse the configuration. **Raises** `ValueError` if it is invalid."""
    exemptions = given.get("exemptions") or {}
    defaults = _defaults(given.get("defaults") or {})
    names = {field: exemptions.get(field) or () for field in _CHECKS}
    faults = [fault for field, check in _CHECKS.items() for fault in _exempt_faults(field, names[field], check)]
    if faults:
        raise ValueError(f"PodSecurity invalid: {aggregate(faults)}")
    return PodSecurityConfiguration(
        defaults, *(frozenset(names[field]) for field in ("usernames", "namespaces", "runtimeClasses"))
    )


def _user_errors(name: str) -> list[str]:
    return [] if name else ["username must not be empty"]


_CHECKS: Final[Mapping[str, Callable[[str], list[str]]]] = {
    "namespaces": dns1123_label_errors,
    "runtimeClasses": dns1123_subdomain_errors,
    "usernames": _user_errors,
}


def _exempt_faults(field: str, names: Sequence[str], check: Callable[[str], list[str]]) -> Iterator[FieldError]:
    for index, name in enumerate(names):
        place = Path("exemptions", field).index(index)
        if texts := check(name):
            yield invalid(place, name, ", ".join(texts))
        elif name in names[:index]:
            yield duplicate(place, name)


def _defaults(given: Mapping[str, Any]) -> NamespaceLevels:
    found: dict[str, LevelVersion] = {}
    faults: list[FieldError] = []
    for mode in MODES:
        level, minor = LevelVersion()
        try:
            level = parse_level(given.get(mode) or level)
        except ValueError as error:
            faults.append(invalid(Path("defaults", mode), given[mode], str(error)))
        try:
            minor = parse_version(given.get(f"{mode}-version") or "latest")
        except ValueError as error:
            faults.append(invalid(Path("defaults", f"{mode}-version"), given[f"{mode}-version"], str(error)))
        found[mode] = LevelVersion(level, minor)
    if faults:
        raise ValueError(aggregate(faults))
    return NamespaceLevels(**found)
