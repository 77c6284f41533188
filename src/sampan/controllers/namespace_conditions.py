"""What a namespace that is being deleted tells of its deletion: five conditions.

Source: kube-controller-manager pkg/controller/namespace/deletion/status_condition_utils.go (1.36).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sampan.core.gvk import GroupVersionResource
from sampan.resource import Object


@dataclass(slots=True)
class Findings:
    """What a pass over a namespace has found."""

    discovery_failures: list[str] = field(default_factory=list)
    """Of group versions, `group/version: why`; or one text that says why nothing could be discovered."""
    is_discovery_partial: bool = True
    """Whether something could be discovered."""
    version_failure: str = ""
    """A group version that cannot be read."""
    content_failures: list[str] = field(default_factory=list)
    """Of each resource whose objects could not be deleted."""
    remaining: Counter[GroupVersionResource] = field(default_factory=Counter)
    """How many objects are still there, of each resource."""
    finalizers: Counter[str] = field(default_factory=Counter)
    """How many objects have a finalizer, of each finalizer."""
    estimate_s: int = 0
    """How long the objects that remain will take."""

    @property
    def failures(self) -> list[str]:
        """All that went wrong."""
        discovery = [self._discovery_failure] if self.discovery_failures else []
        return [*discovery, *filter(None, [self.version_failure]), *self.content_failures]

    @property
    def _discovery_failure(self) -> str:
        said = ", ".join(sorted(self.discovery_failures))
        prefix = "unable to retrieve the complete list of server APIs: "
        return f"{prefix}{said}" if self.is_discovery_partial else said

    def discovery_message(self) -> str:
        """What the condition says of discovery; empty when it went well."""
        if not self.discovery_failures:
            return ""
        if not self.is_discovery_partial:
            return self._discovery_failure
        count = len(self.discovery_failures)
        return f"Discovery failed for some groups, {count} failing: {self._discovery_failure}"

    def content_message(self) -> str:
        """What the condition says of failures to delete; empty when there were none."""
        if not self.content_failures:
            return ""
        said = ", ".join(sorted(self.content_failures))
        return f"Failed to delete all resource types, {len(self.content_failures)} remaining: {said}"

    def remaining_message(self) -> str:
        """What the condition says of the objects that are still there; empty when there are none."""
        said = sorted(f"{gvr.resource}.{gvr.group} has {n} resource instances" for gvr, n in self.remaining.items())
        return f"Some resources are remaining: {', '.join(said)}" if said else ""

    def finalizers_message(self) -> str:
        """What the condition says of finalizers; empty when there are none."""
        said = sorted(f"{name} in {n} resource instances" for name, n in self.finalizers.items())
        return f"Some content in the namespace has finalizers remaining: {', '.join(said)}" if said else ""


class _Words(NamedTuple):
    """What a condition says."""

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


def conditions_after(present: Sequence[Object], findings: Findings, timestamp: str) -> list[Object]:
    """The conditions of the status: others' as they are, ours as the findings say, in place or at the end.

    The time of transition changes only with a condition's status.
    """
    wanted = {condition["type"]: condition for condition in _conditions(findings)}
    merged: list[Object] = []
    for old in present:
        new = wanted.pop(old.get("type", ""), None)
        if new is None:
            merged.append(old)
            continue
        same = new["status"] == old.get("status")
        merged.append({**new, "lastTransitionTime": old.get("lastTransitionTime", timestamp) if same else timestamp})
    return merged + [{**new, "lastTransitionTime": timestamp} for new in wanted.values()]


def _conditions(findings: Findings) -> Iterator[Object]:
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
