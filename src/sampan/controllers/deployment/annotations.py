"""What a Deployment's controller remembers on ReplicaSets: revisions, and the sizes that they were given for.

Source: kube-controller-manager pkg/controller/deployment/util/deployment_util.go (1.36).
"""

from collections.abc import Iterable, Mapping
from typing import Final

from sampan.core.integers import integer_or
from sampan.resource import Object, meta

REVISION: Final = "deployment.kubernetes.io/revision"
REVISION_HISTORY: Final = "deployment.kubernetes.io/revision-history"
DESIRED_REPLICAS: Final = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS: Final = "deployment.kubernetes.io/max-replicas"
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_ROLLBACK_TO: Final = "deprecated.deployment.rollback.to"
_OWN: Final = frozenset([_LAST_APPLIED, REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS, _ROLLBACK_TO])
_HISTORY_LENGTH_MAX: Final = 2000


def revision_of(obj: Object) -> int:
    """The revision that is written on a Deployment or ReplicaSet; 0 when there is none that can be read."""
    return _number(meta(obj).annotations.get(REVISION)) or 0


def max_revision(replica_sets: Iterable[Object]) -> int:
    """The highest revision of all."""
    return max(map(revision_of, replica_sets), default=0)


def desired_replicas(replica_set: Object) -> int | None:
    """What the Deployment wanted when the ReplicaSet was last sized."""
    return _number(meta(replica_set).annotations.get(DESIRED_REPLICAS))


def max_replicas(replica_set: Object) -> int | None:
    """What the Deployment could have at most when the ReplicaSet was last sized."""
    return _number(meta(replica_set).annotations.get(MAX_REPLICAS))


def size_annotations(desired: int, most: int) -> dict[str, str]:
    """The annotations of a ReplicaSet that has been sized."""
    return {DESIRED_REPLICAS: str(desired), MAX_REPLICAS: str(most)}


def new_annotations(deployment: Object, present: Mapping[str, str], revision: int) -> dict[str, str]:
    """The annotations that the new ReplicaSet should have: the Deployment's, and its revision with those before."""
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
    """The revisions that a ReplicaSet has had; the oldest are forgotten when there are very many."""
    revisions = [*filter(None, history.split(",")), revision]
    while len(",".join(revisions)) > _HISTORY_LENGTH_MAX:
        revisions.pop(0)
    return ",".join(revisions)


def _number(text: str | None) -> int | None:
    number = integer_or(text or "", -1)
    return number if number >= 0 else None
