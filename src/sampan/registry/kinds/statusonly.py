"""Kinds whose /status changes the status and nothing else.

Source: apimachinery pkg/apis/meta/v1/meta.go ResetObjectMetaForStatus (1.36).
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from sampan.core.object import Object, set_or_drop
from sampan.registry.strategy import Strategy


def keep_metadata(obj: Object, old: Object, names: Iterable[str]) -> None:
    """Put some fields of the metadata back."""
    metadata, old_metadata = obj["metadata"], old["metadata"]
    for name in names:
        set_or_drop(metadata, name, old_metadata.get(name))


class StatusOnlyStrategy(Strategy):
    """Most kinds let /status change metadata as well; these do not."""

    kept_metadata: ClassVar[Sequence[str]] = (
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
        "deletionTimestamp",
    )
    """What of the metadata /status does not change."""

    def keep_for_status_update(self, obj: Object, old: Object) -> None:
        """Labels, annotations, finalizers and owners stay."""
        super().keep_for_status_update(obj, old)
        keep_metadata(obj, old, self.kept_metadata)

    def reset_fields(self, status_served: bool) -> dict[str, dict[str, Any]]:
        """Who writes the status owns no metadata."""
        if not status_served:
            return {}
        return {"": {"f:status": {}}, "status": {"f:metadata": {}, "f:spec": {}}}


class MetadataKeptStrategy(StatusOnlyStrategy):
    """And these let it change nothing of the metadata, not even ask for it."""

    def keep_for_status_update(self, obj: Object, old: Object) -> None:
        """All metadata stays but who owns what, and the revision that was named."""
        super().keep_for_status_update(obj, old)
        metadata = obj["metadata"]
        obj["metadata"] = dict(old["metadata"])
        for name in ("managedFields", "resourceVersion"):
            set_or_drop(obj["metadata"], name, metadata.get(name))
