"""Annotations of ReplicaSets that hold the controller's records: revisions, and the Deployment's size.

Source: kube-controller-manager pkg/controller/deployment/util/deployment_util.go (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from sampan.core.numbers.integers import integer_or
from sampan.kinds import apps_v1
from sampan.resource import meta

REVISION: Final = "deployment.kubernetes.io/revision"
REVISION_HISTORY: Final = "deployment.kubernetes.io/revision-history"
DESIRED_REPLICAS: Final = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS: Final = "deployment.kubernetes.io/max-replicas"
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_ROLLBACK_TO: Final = "deprecated.deployment.rollback.to"
_OWN: Final = frozenset([_LAST_APPLIED, REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS, _ROLLBACK_TO])
_HISTORY_LENGTH_MAX: Final = 2000


def revision_of(obj: apps_v1.Deployment | apps_v1.ReplicaSet) -> int:
    """Return the revision in the annotations of a Deployment or ReplicaSet; 0 if it is missing or malformed."""
    return _number(meta(obj).annotations.get(REVISION)) or 0


def max_revision(replica_sets: Iterable[apps_v1.ReplicaSet]) -> int:
    """Return the highest revision of the ReplicaSets; 0 without any."""
    return max(map(revision_of, replica_sets), default=0)


def desired_replicas(replica_set: apps_v1.ReplicaSet) -> int | None:
    """Return the replicas that the Deployment had when the ReplicaSet was last scaled."""
    return _number(meta(replica_set).annotations.get(DESIRED_REPLICAS))


def max_replicas(replica_set: apps_v1.ReplicaSet) -> int | None:
    """Return the most replicas the Deployment could have when the ReplicaSet was last scaled."""
    return _number(meta(replica_set).annotations.get(MAX_REPLICAS))


def size_annotations(desired: int, most: int) -> dict[str, str]:
    """Return the annotations for a ReplicaSet that is being scaled."""
    return {DESIRED_REPLICAS: str(desired), MAX_REPLICAS: str(most)}


def new_annotations(deployment: apps_v1.Deployment, present: Mapping[str, str], revision: int) -> dict[str, str]:
    """Return the annotations of the new ReplicaSet: the Deployment's, its revision and its earlier revisions."""
    copied = {key: value for key, value in meta(deployment).annotations.items() if key not in _OWN}
    annotations = {**present, **copied}
    if present.get(REVISION) and _number(present[REVISION]) is None:
        return annotations
    before = _number(present.get(REVISION)) or 0
    if before < revision:
        annotations[REVISION] = str(revision)
        if REVISION in present:
            annotations[REVISION_HISTORY] = _history(present.get(REVISION_HISTORY, ""), present[REVISION])
    return annotations


def _history(history: str, revision: str) -> str:
    """Append a revision to a ReplicaSet's history. The oldest ones are dropped if the text gets too long."""
    revisions = [*filter(None, history.split(",")), revision]
    while len(",".join(revisions)) > _HISTORY_LENGTH_MAX:
        revisions.pop(0)
    return ",".join(revisions)


def _number(text: str | None) -> int | None:
    number = integer_or(text or "", -1)
    return number if number >= 0 else None
