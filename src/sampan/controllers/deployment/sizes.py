"""How large each ReplicaSet of a Deployment should be: decisions alone.

Source: kube-controller-manager pkg/controller/deployment/{sync,rolling}.go, util/deployment_util.go (1.36).
"""

import math
from collections.abc import Sequence
from typing import Final

from sampan.controllers.deployment.annotations import desired_replicas, max_replicas
from sampan.core.int_or_string import scaled_value
from sampan.resource import Object, meta

Sizes = dict[str, int]
"""ReplicaSets by name, and the number that each should want."""

_ROLLING: Final = "RollingUpdate"


def wanted(obj: Object) -> int:
    """`spec.replicas` of a Deployment or ReplicaSet."""
    replicas = obj["spec"].get("replicas")
    return 1 if replicas is None else int(replicas)


def told(replica_set: Object, field: str) -> int:
    """A number of a ReplicaSet's status; absent is 0."""
    return int((replica_set.get("status") or {}).get(field) or 0)


def is_rolling(deployment: Object) -> bool:
    """Whether new Pods come while old ones go."""
    return bool(deployment["spec"].get("strategy", {}).get("type", _ROLLING) == _ROLLING)


def _fences(deployment: Object) -> tuple[int, int]:
    """How many Pods there may be too many, and how many may be missing, as numbers."""
    said = deployment["spec"].get("strategy", {}).get("rollingUpdate") or {}
    total = wanted(deployment)
    surge = scaled_value(said.get("maxSurge"), total, round_up=True)
    unavailable = scaled_value(said.get("maxUnavailable"), total, round_up=False)
    # Both may be rounded to nothing; then nothing could ever change.
    return (surge, unavailable) if surge or unavailable else (0, 1)


def max_surge(deployment: Object) -> int:
    """Pods that there may be beyond the wanted number."""
    return _fences(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: Object) -> int:
    """Pods of the wanted number that may be missing."""
    if not is_rolling(deployment):
        return 0
    return min(_fences(deployment)[1], wanted(deployment))


def active(replica_sets: Sequence[Object]) -> list[Object]:
    """Those that want Pods."""
    return [each for each in replica_sets if wanted(each) > 0]


def by_age(replica_set: Object) -> tuple[str, str]:
    """The older come first."""
    return meta(replica_set).creation_timestamp or "", meta(replica_set).name


def new_size(deployment: Object, every: Sequence[Object], new_wanted: int) -> int:
    """The next size of the new ReplicaSet: as many more as the surge allows. `every` are all, the new one too."""
    total = wanted(deployment)
    if not is_rolling(deployment) or new_wanted >= total:
        return total
    there = sum(map(wanted, every))
    said = deployment["spec"].get("strategy", {}).get("rollingUpdate") or {}
    room = total + scaled_value(said.get("maxSurge"), total, round_up=True) - there
    return new_wanted + min(room, total - new_wanted) if room > 0 else new_wanted


def shrunk(deployment: Object, old: Sequence[Object], new: Object) -> Sizes:
    """Sizes of old ReplicaSets that may be smaller now: unhealthy Pods go first, then what availability allows."""
    every = [*old, new]
    least = wanted(deployment) - max_unavailable(deployment)
    missing = wanted(new) - told(new, "availableReplicas")
    room = sum(map(wanted, every)) - least - missing
    sizes = {meta(each).name: wanted(each) for each in old if wanted(each)}
    if room <= 0:
        return {}
    ordered = sorted((each for each in old if wanted(each)), key=by_age)
    for each in ordered:
        name = meta(each).name
        fewer = min(room, max(0, sizes[name] - told(each, "availableReplicas")))
        sizes[name] -= fewer
        room -= fewer
    spare = sum(told(each, "availableReplicas") for each in every) - least
    for each in ordered:
        name = meta(each).name
        fewer = min(max(spare, 0), sizes[name])
        sizes[name] -= fewer
        spare -= fewer
    return {meta(each).name: sizes[meta(each).name] for each in ordered if sizes[meta(each).name] != wanted(each)}


def is_saturated(deployment: Object, new: Object | None) -> bool:
    """Whether the new ReplicaSet is all that is wanted, and available."""
    total = wanted(deployment)
    return (
        new is not None
        and wanted(new) == total
        and desired_replicas(new) == total
        and told(new, "availableReplicas") == total
    )


def is_scaling(deployment: Object, every: Sequence[Object]) -> bool:
    """Whether the wanted number has changed since the ReplicaSets were last sized."""
    sizes = (desired_replicas(each) for each in active(every))
    return any(size is not None and size != wanted(deployment) for size in sizes)


def resized(deployment: Object, old: Sequence[Object], new: Object | None) -> Sizes:
    """The sizes after the Deployment was scaled: of one active ReplicaSet all, of several each its share."""
    total = wanted(deployment)
    every = [*old, *([new] if new is not None else [])]
    alive = active(every)
    if len(alive) <= 1:
        sole = alive[0] if alive else new if new is not None else max(old, key=by_age, default=None)
        return {} if sole is None else {meta(sole).name: total}
    if is_saturated(deployment, new):
        return {meta(each).name: 0 for each in active(old)}
    if not is_rolling(deployment):
        return {}
    return _proportional(deployment, alive)


def _proportional(deployment: Object, alive: Sequence[Object]) -> Sizes:
    total = wanted(deployment)
    allowed = total + max_surge(deployment) if total else 0
    change = allowed - sum(map(wanted, alive))
    ordered = sorted(alive, key=by_age, reverse=change > 0)
    ordered.sort(key=wanted, reverse=True)
    sizes: Sizes = {}
    done = 0
    for each in ordered:
        share = 0
        if change != done:
            left = change - done
            share = min(_fraction(deployment, each), left) if change > 0 else max(_fraction(deployment, each), left)
        sizes[meta(each).name] = wanted(each) + share
        done += share
    if ordered and change:
        first = meta(ordered[0]).name
        sizes[first] = max(0, sizes[first] + change - done)
    return sizes


def _fraction(deployment: Object, replica_set: Object) -> int:
    """The change that keeps a ReplicaSet's share of the whole."""
    total = wanted(deployment)
    if not total:
        return -wanted(replica_set)
    before = max_replicas(replica_set) or int((deployment.get("status") or {}).get("replicas") or 0)
    if not before:
        return 0
    exact = wanted(replica_set) * (total + max_surge(deployment)) / before
    return math.floor(exact + 0.5) - wanted(replica_set)
