"""Kinds whose /status changes the status and nothing else.

Source: apimachinery pkg/apis/meta/v1/meta.go ResetObjectMetaForStatus (1.36).
"""

from typing import Any

from sampan.core.object import Object
from sampan.registry.strategy import Strategy

_KEPT = ("labels", "annotations", "finalizers")


class StatusOnlyStrategy(Strategy):
    """Most kinds let /status change labels and annotations as well; these do not."""

    def keep_for_status_update(self, obj: Object, old: Object) -> None:
        """Labels, annotations and finalizers stay."""
        super().keep_for_status_update(obj, old)
        for name in _KEPT:
            if name in old["metadata"]:
                obj["metadata"][name] = old["metadata"][name]
            else:
                obj["metadata"].pop(name, None)

    def reset_fields(self, status_served: bool) -> dict[str, dict[str, Any]]:
        """Who writes the status owns no metadata."""
        if not status_served:
            return {}
        return {"": {"f:status": {}}, "status": {"f:metadata": {}, "f:spec": {}}}
