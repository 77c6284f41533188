"""Evaluation of a Pod at a level and version.

Source: k8s.io/pod-security-admission policy/{registry,checks}.go (1.36).
"""

from collections.abc import Sequence
from typing import Final

from sampan.core.object import Object
from sampan.server.admission.plugins.pod_security import baseline, restricted
from sampan.server.admission.plugins.pod_security.check import Check, Examine, Violation
from sampan.server.admission.plugins.pod_security.policy import BASELINE, LATEST, PRIVILEGED, LevelVersion

_ALL: Final = (*baseline.CHECKS, *restricted.CHECKS)
MINOR_MAX: Final = max(minor for check in _ALL for minor, _ in check.versions)
"""Newest minor version with changed checks; later versions have the same checks."""


class Evaluator:
    """Evaluates Pods. Caches the checks of each level and version."""

    def __init__(self) -> None:
        self._examinations: dict[LevelVersion, tuple[Examine, ...]] = {}

    def violations(self, desired: LevelVersion, metadata: Object, spec: Object) -> list[Violation]:
        """Return all violations of a Pod or a Pod template."""
        if desired.level == PRIVILEGED:
            return []
        examinations = self._examinations.get(desired)
        if examinations is None:
            examinations = self._examinations[desired] = examinations_of(desired)
        found = [examine(metadata, spec) for examine in examinations]
        return [violation for violation in found if violation is not None]


def examinations_of(desired: LevelVersion) -> tuple[Examine, ...]:
    """Return the checks: first those of baseline, without those that a restricted check replaces."""
    minor = MINOR_MAX if desired.minor == LATEST else min(desired.minor, MINOR_MAX)
    checks: Sequence[Check] = baseline.CHECKS
    if desired.level != BASELINE:
        needless = {check.overrides for check in restricted.CHECKS if check.versions[0][0] <= minor}
        checks = [*(check for check in checks if check.id not in needless), *restricted.CHECKS]
    found = [_at(check, minor) for check in checks]
    return tuple(examine for examine in found if examine is not None)


def _at(check: Check, minor: int) -> Examine | None:
    fitting = [examine for since, examine in check.versions if since <= minor]
    return fitting[-1] if fitting else None


def reasons(violations: Sequence[Violation]) -> str:
    """Return the short reasons."""
    return ", ".join(each.reason for each in violations)


def details(violations: Sequence[Violation]) -> str:
    """Return the reasons with details."""
    return ", ".join(f"{each.reason} ({each.detail})" if each.detail else each.reason for each in violations)
