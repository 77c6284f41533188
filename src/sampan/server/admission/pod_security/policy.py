"""Which level a namespace wants enforced, audited and warned of: labels `pod-security.kubernetes.io/…`.

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
"""From the least to the most strict."""
LATEST: Final = -1
_LEVEL_ERROR: Final = f"must be one of {', '.join(LEVELS)}"
_VERSION_ERROR: Final = 'must be "latest" or "v1.x"'
_LABELS: Final = Path("metadata", "labels")
_is_version = re.compile(r"v1\.([0-9]|[1-9][0-9]{1,8})").fullmatch


class LevelVersion(NamedTuple):
    """A level as a minor version of Kubernetes has it."""

    level: str = PRIVILEGED
    minor: int = LATEST

    def __str__(self) -> str:
        return f"{self.level}:{'latest' if self.minor == LATEST else f'v1.{self.minor}'}"

    @property
    def strictness(self) -> int:
        """0 is privileged."""
        return LEVELS.index(self.level)


class Policy(NamedTuple):
    """What a namespace wants."""

    enforce: LevelVersion = LevelVersion()
    audit: LevelVersion = LevelVersion()
    warn: LevelVersion = LevelVersion()

    @property
    def is_privileged(self) -> bool:
        """Whether it allows everything without a word."""
        return all(each.level == PRIVILEGED for each in self)

    def is_equivalent(self, other: "Policy") -> bool:
        """Whether both allow the same."""
        return all(a == b or a.level == b.level == PRIVILEGED for a, b in zip(self, other, strict=True))


PRIVILEGED_POLICY: Final = Policy()
MODES: Final = Policy._fields


def shown_version(wanted: LevelVersion) -> str:
    """What metrics call it: versions that this server does not know yet are all `future`."""
    if wanted.minor == LATEST or wanted.level == PRIVILEGED:
        return "latest"
    return f"v1.{wanted.minor}" if wanted.minor <= int(MINOR) else "future"


def parse_level(text: str) -> str:
    """Raises `ValueError` for what is no level."""
    if text not in LEVELS:
        raise ValueError(_LEVEL_ERROR)
    return text


def parse_version(text: str) -> int:
    """The minor version. Raises `ValueError`."""
    if text == "latest":
        return LATEST
    found = _is_version(text)
    if found is None:
        raise ValueError(_VERSION_ERROR)
    return int(found[1])


def policy_of(labels: Mapping[str, str], defaults: Policy) -> tuple[Policy, list[FieldError]]:
    """What the labels of a namespace say, and what is wrong with them.

    A label that makes no sense is strict where it enforces, and silent where it only tells.
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
    return Policy(**found), faults
