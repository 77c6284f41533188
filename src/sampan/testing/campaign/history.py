"""States without their history: objects and fields that control loops keep from earlier states are ignored.

A Deployment keeps old ReplicaSets and counts its revisions. Pods get random names and the next free address.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from sampan.testing.explore.outcome import Outcome

_REVISIONS: Final = "/registry/controllerrevisions/"
_REPLICA_SETS: Final = "/registry/replicasets/"
_PODS: Final = "/registry/pods/"
_ANNOTATIONS: Final = "deployment.kubernetes.io/"
_OF_ONE_POD: Final = frozenset({"podIP", "podIPs", "containerStatuses", "initContainerStatuses"})


def without_history(outcome: Outcome) -> Outcome:
    """Return an outcome with states that do not depend on earlier ones."""
    return replace(outcome, state={key: _plain(key, obj) for key, obj in outcome.state.items() if _is_now(key, obj)})


def _is_now(key: str, obj: Any) -> bool:
    """Return False for an object that is kept for a roll-back."""
    if key.startswith(_REPLICA_SETS):
        return bool(obj.get("spec", {}).get("replicas", 1) or not obj.get("metadata", {}).get("ownerReferences"))
    return not key.startswith(_REVISIONS)


def _plain(key: str, obj: Any) -> Any:
    found = _sorted(obj)
    metadata = found.get("metadata", {}) if isinstance(found, dict) else {}
    if "generateName" in metadata:
        metadata.pop("name", None)
    annotations = metadata.get("annotations")
    if annotations is not None:
        kept = {name: value for name, value in annotations.items() if not name.startswith(_ANNOTATIONS)}
        metadata["annotations"] = kept
        if not kept:
            del metadata["annotations"]
    if key.startswith(_PODS) and isinstance(found.get("status"), dict):
        found["status"] = {name: value for name, value in found["status"].items() if name not in _OF_ONE_POD}
    return found


def _sorted(value: Any) -> Any:
    """Return a copy in which conditions are sorted by their types: their order is that of their first changes."""
    if isinstance(value, Mapping):
        return {key: _conditions(each) if key == "conditions" else _sorted(each) for key, each in value.items()}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


def _conditions(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(each, Mapping) and "type" in each for each in value):
        return sorted((_sorted(each) for each in value), key=lambda each: str(each["type"]))
    return _sorted(value)
