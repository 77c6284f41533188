"""Policy of a namespace: the levels to enforce, audit and warn of, from labels `pod-security.kubernetes.io/…`.

Source: k8s.io/pod-security-admission api/helpers.go (1.36).
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from sampan.core.field import FieldError, Path, invalid
from sampan.core.kubernetes_version import MINOR

PREFIX: Final = "pod-security.kubernetes.io/"
PRIVILEGED: Final = "privileged"
BASELINE: Final = "baseline"
RESTRICTED: Final = "restricted"
LEVELS: Final = (PRIVILEGED, BASELINE, RESTRICTED)
"""Levels from the least to the most strict."""
LATEST: Final = -1
_LEVEL_ERROR: Final = f"must be one of {', '.join(LEVELS)}"
_VERSION_ERROR: Final = 'must be "latest" or "v1.x"'
_LABELS: Final = Path("metadata", "labels")
_is_version = re.compile(r"v1\.([0-9]|[1-9][0-9]{1,8})").fullmatch


class LevelVersion(NamedTuple):
    """Level at a minor version of Kubernetes."""

    level: str = PRIVILEGED
    minor: int = LATEST

    def __str__(self) -> str:
        return f"{self.level}:{'latest' if self.minor == LATEST else f'v1.{self.minor}'}"

    @property
    def strictness(self) -> int:
        """Return the strictness; 0 is privileged."""
        return LEVELS.index(self.level)


class NamespaceLevels(NamedTuple):
    """Levels that a namespace enforces, audits and warns of."""

    enforce: LevelVersion = LevelVersion()
    audit: LevelVersion = LevelVersion()
    warn: LevelVersion = LevelVersion()

    @property
    def is_privileged(self) -> bool:
        """Return True if everything is allowed without audit or warning."""
        return all(each.level == PRIVILEGED for each in self)

    def is_equivalent(self, other: "NamespaceLevels") -> bool:
        """Return True if both policies allow the same Pods."""
        return all(a == b or a.level == b.level == PRIVILEGED for a, b in zip(self, other, strict=True))


PRIVILEGED_POLICY: Final = NamespaceLevels()
MODES: Final = NamespaceLevels._fields


def shown_version(desired: LevelVersion) -> str:
    """Return the version for metrics. All versions that are newer than this server are `future`."""
    if desired.minor == LATEST or desired.level == PRIVILEGED:
        return "latest"
    return f"v1.{desired.minor}" if desired.minor <= int(MINOR) else "future"


def parse_level(text: str) -> str:
    """Return the level. **Raises** `ValueError` if the text is not a level."""
    if text not in LEVELS:
        raise ValueError(_LEVEL_ERROR)
    return text


def parse_version(text: str) -> int:
    """Return the minor version. **Raises** `ValueError`."""
    if text == "latest":
        return LATEST
    found = _is_version(text)
    if found is None:
        raise ValueError(_VERSION_ERROR)
    return int(found[1])


def policy_of(labels: Mapping[str, str], defaults: NamespaceLevels) -> tuple[NamespaceLevels, list[FieldError]]:
    """Return the policy of a namespace's labels, and their errors.

    An invalid label means restricted for enforce, and privileged for audit and warn.
    """
    found: dict[str, LevelVersion] = {}
    faults: list[FieldError] = []
    valid: set[str] = set()
    for mode, default in zip(MODES, defaults, strict=True):
        level, minor = default
        label = PREFIX + mode
        if label in labels:
            try:
                level = parse_level(labels[label])
                valid.add(mode)
            except ValueError as error:
                level = RESTRICTED if mode == "enforce" else PRIVILEGED
                faults.append(invalid(_LABELS.key(label), labels[label], str(error)))
        label += "-version"
        if label in labels:
            try:
                minor = parse_version(labels[label])
            except ValueError as error:
                minor = LATEST
                faults.append(invalid(_LABELS.key(label), labels[label], str(error)))
        found[mode] = LevelVersion(level, minor)
    enforce, warn = found["enforce"], found["warn"]
    if f"{PREFIX}warn" not in labels and "enforce" in valid and enforce.strictness > warn.strictness:
        minor = warn.minor if f"{PREFIX}warn-version" in labels else enforce.minor
        found["warn"] = LevelVersion(enforce.level, minor)
    return NamespaceLevels(**found), faults
