"""Conditions of a namespace that report the progress of its deletion.

Source: kube-controller-manager pkg/controller/namespace/deletion/status_condition_utils.go (1.36).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sampan.core.gvk import GroupVersionResource
from sampan.kinds import core_v1


@dataclass(slots=True)
class Findings:
    """Results of one pass over a namespace."""

    discovery_failures: list[str] = field(default_factory=list)
    """`group/version: error` for each group version that failed; a single error text if discovery failed as a whole."""
    is_discovery_partial: bool = True
    """False if discovery failed as a whole."""
    version_failure: str = ""
    """Error about a group version that cannot be parsed."""
    content_failures: list[str] = field(default_factory=list)
    """One error for each resource whose objects could not be deleted."""
    remaining: Counter[GroupVersionResource] = field(default_factory=Counter)
    """Number of remaining objects of each resource."""
    finalizers: Counter[str] = field(default_factory=Counter)
    """Number of remaining objects with each finalizer."""
    estimate_s: int = 0
    """Estimated seconds until the remaining objects are gone."""

    @property
    def failures(self) -> list[str]:
        """All errors of the pass."""
        discovery = [self._discovery_failure] if self.discovery_failures else []
        return [*discovery, *filter(None, [self.version_failure]), *self.content_failures]

    @property
    def _discovery_failure(self) -> str:
        failures = ", ".join(sorted(self.discovery_failures))
        prefix = "unable to retrieve the complete list of server APIs: "
        return f"{prefix}{failures}" if self.is_discovery_partial else failures

    def discovery_message(self) -> str:
        """Message of the discovery condition; empty if discovery succeeded."""
        if not self.discovery_failures:
            return ""
        if not self.is_discovery_partial:
            return self._discovery_failure
        count = len(self.discovery_failures)
        return f"Discovery failed for some groups, {count} failing: {self._discovery_failure}"

    def content_message(self) -> str:
        """Message of the content condition; empty if every deletion succeeded."""
        if not self.content_failures:
            return ""
        failures = ", ".join(sorted(self.content_failures))
        return f"Failed to delete all resource types, {len(self.content_failures)} remaining: {failures}"

    def remaining_message(self) -> str:
        """Message of the condition about remaining objects; empty if none remain."""
        counts = sorted(f"{gvr.resource}.{gvr.group} has {n} resource instances" for gvr, n in self.remaining.items())
        return f"Some resources are remaining: {', '.join(counts)}" if counts else ""

    def finalizers_message(self) -> str:
        """Message of the condition about finalizers; empty if no object has one."""
        counts = sorted(f"{name} in {n} resource instances" for name, n in self.finalizers.items())
        return f"Some content in the namespace has finalizers remaining: {', '.join(counts)}" if counts else ""


class _Words(NamedTuple):
    """Type, reasons and message of a condition."""

    type: str
    bad_reason: str
    good_reason: str
    good_message: str


_DISCOVERY: Final = _Words(
    "NamespaceDeletionDiscoveryFailure",
    "DiscoveryFailed",
    "ResourcesDiscovered",
    "All resources successfully discovered",
)
_VERSIONS: Final = _Words(
    "NamespaceDeletionGroupVersionParsingFailure",
    "GroupVersionParsingFailed",
    "ParsedGroupVersions",
    "All legacy kube types successfully parsed",
)
_CONTENT: Final = _Words(
    "NamespaceDeletionContentFailure",
    "ContentDeletionFailed",
    "ContentDeleted",
    "All content successfully deleted, may be waiting on finalization",
)
_REMAINING: Final = _Words(
    "NamespaceContentRemaining", "SomeResourcesRemain", "ContentRemoved", "All content successfully removed"
)
_FINALIZERS: Final = _Words(
    "NamespaceFinalizersRemaining",
    "SomeFinalizersRemain",
    "ContentHasNoFinalizers",
    "All content-preserving finalizers finished",
)


def conditions_after(
    present: Sequence[core_v1.NamespaceCondition], findings: Findings, timestamp: str
) -> list[core_v1.NamespaceCondition]:
    """Merge the conditions of the findings into the current ones: replace those of the same type, append new ones.

    Conditions of other types stay unchanged. A transition time changes only with the condition's status.
    """
    desired = {condition["type"]: condition for condition in _conditions(findings)}
    merged: list[core_v1.NamespaceCondition] = []
    for old in present:
        new = desired.pop(old.get("type", ""), None)
        if new is None:
            merged.append(old)
            continue
        same = new["status"] == old.get("status")
        merged.append({**new, "lastTransitionTime": old.get("lastTransitionTime", timestamp) if same else timestamp})
    return merged + [{**new, "lastTransitionTime": timestamp} for new in desired.values()]


def _conditions(findings: Findings) -> Iterator[core_v1.NamespaceCondition]:
    messages = (
        (_DISCOVERY, findings.discovery_message()),
        (_VERSIONS, findings.version_failure),
        (_CONTENT, findings.content_message()),
        (_REMAINING, findings.remaining_message()),
        (_FINALIZERS, findings.finalizers_message()),
    )
    for words, bad in messages:
        yield {
            "type": words.type,
            "status": "True" if bad else "False",
            "reason": words.bad_reason if bad else words.good_reason,
            "message": bad or words.good_message,
        }
