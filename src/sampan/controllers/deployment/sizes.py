"""Sizes of a Deployment's ReplicaSets, as pure functions.

Source: kube-controller-manager pkg/controller/deployment/{sync,rolling}.go, util/deployment_util.go (1.36).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

from sampan.controllers.deployment.annotations import desired_replicas, max_replicas
from sampan.core.numbers.int_or_string import scaled_value
from sampan.kinds import apps_v1
from sampan.resource import meta

Sizes = dict[str, int]
"""New `spec.replicas` by the name of the ReplicaSet."""

_ROLLING: Final = "RollingUpdate"


def desired(obj: apps_v1.Deployment | apps_v1.ReplicaSet) -> int:
    """Return `spec.replicas` of a Deployment or ReplicaSet; 1 if it is absent."""
    replicas = obj["spec"].get("replicas")
    return 1 if replicas is None else replicas


def status_count(
    replica_set: apps_v1.ReplicaSet,
    field: Literal["replicas", "readyReplicas", "availableReplicas", "observedGeneration"],
) -> int:
    """Return a number from a ReplicaSet's status; 0 if it is absent."""
    status = replica_set.get("status")
    return status.get(field) or 0 if status else 0


def is_rolling(deployment: apps_v1.Deployment) -> bool:
    """Return True if the strategy is RollingUpdate."""
    return (deployment["spec"].get("strategy") or {}).get("type", _ROLLING) == _ROLLING


def _limits(deployment: apps_v1.Deployment) -> tuple[int, int]:
    """Return `maxSurge` and `maxUnavailable` as numbers of Pods."""
    rolling = (deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    total = desired(deployment)
    surge = scaled_value(rolling.get("maxSurge"), total, round_up=True)
    unavailable = scaled_value(rolling.get("maxUnavailable"), total, round_up=False)
    # Both may be rounded down to 0, which would block every update.
    return (surge, unavailable) if surge or unavailable else (0, 1)


def max_surge(deployment: apps_v1.Deployment) -> int:
    """Return the highest number of Pods above the desired number."""
    return _limits(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: apps_v1.Deployment) -> int:
    """Return the highest number of desired Pods that may be unavailable."""
    if not is_rolling(deployment):
        return 0
    return min(_limits(deployment)[1], desired(deployment))


def active(replica_sets: Sequence[apps_v1.ReplicaSet]) -> list[apps_v1.ReplicaSet]:
    """Return the ReplicaSets with a size above 0."""
    return [each for each in replica_sets if desired(each) > 0]


def by_age(replica_set: apps_v1.ReplicaSet) -> tuple[str, str]:
    """Sort key by age, oldest first."""
    return meta(replica_set).creation_timestamp or "", meta(replica_set).name


def new_size(deployment: apps_v1.Deployment, every: Sequence[apps_v1.ReplicaSet], new_desired: int) -> int:
    """Return the next size of the new ReplicaSet, within the surge.

    `every` are all ReplicaSets, including the new one.
    """
    total = desired(deployment)
    if not is_rolling(deployment) or new_desired >= total:
        return total
    present = sum(map(desired, every))
    rolling = (deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    room = total + scaled_value(rolling.get("maxSurge"), total, round_up=True) - present
    return new_desired + min(room, total - new_desired) if room > 0 else new_desired


def shrunk(deployment: apps_v1.Deployment, old: Sequence[apps_v1.ReplicaSet], new: apps_v1.ReplicaSet) -> Sizes:
    """Return smaller sizes for old ReplicaSets.

    Unhealthy Pods are removed first, then as many healthy ones as availability allows.
    """
    every = [*old, new]
    least = desired(deployment) - max_unavailable(deployment)
    # Pods of the new ReplicaSet that are not available yet do not replace old ones.
    missing = desired(new) - status_count(new, "availableReplicas")
    room = sum(map(desired, every)) - least - missing
    sizes = {meta(each).name: desired(each) for each in old if desired(each)}
    if room <= 0:
        return {}
    # Unhealthy old Pods serve no traffic, so removing them does not lower availability.
    ordered = sorted((each for each in old if desired(each)), key=by_age)
    for each in ordered:
        name = meta(each).name
        fewer = min(room, max(0, sizes[name] - status_count(each, "availableReplicas")))
        sizes[name] -= fewer
        room -= fewer
    # Available Pods above the minimum can be removed too, starting with the oldest ReplicaSet.
    spare = sum(status_count(each, "availableReplicas") for each in every) - least
    for each in ordered:
        name = meta(each).name
        fewer = min(max(spare, 0), sizes[name])
        sizes[name] -= fewer
        spare -= fewer
    return {meta(each).name: sizes[meta(each).name] for each in ordered if sizes[meta(each).name] != desired(each)}


def is_saturated(deployment: apps_v1.Deployment, new: apps_v1.ReplicaSet | None) -> bool:
    """Return True if the new ReplicaSet alone has all desired Pods, and they are available."""
    total = desired(deployment)
    return (
        new is not None
        and desired(new) == total
        and desired_replicas(new) == total
        and status_count(new, "availableReplicas") == total
    )


def is_scaling(deployment: apps_v1.Deployment, every: Sequence[apps_v1.ReplicaSet]) -> bool:
    """Return True if the desired number has changed since the ReplicaSets were last scaled."""
    sizes = (desired_replicas(each) for each in active(every))
    return any(size is not None and size != desired(deployment) for size in sizes)


def resized(deployment: apps_v1.Deployment, old: Sequence[apps_v1.ReplicaSet], new: apps_v1.ReplicaSet | None) -> Sizes:
    """Return the sizes after scaling the Deployment.

    One active ReplicaSet gets all replicas; several active ReplicaSets share them in proportion.
    """
    total = desired(deployment)
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


def _proportional(deployment: apps_v1.Deployment, alive: Sequence[apps_v1.ReplicaSet]) -> Sizes:
    total = desired(deployment)
    allowed = total + max_surge(deployment) if total else 0
    change = allowed - sum(map(desired, alive))
    # The largest ReplicaSets come first. Among equal sizes, the newest grow first and the oldest shrink first.
    ordered = sorted(alive, key=by_age, reverse=change > 0)
    ordered.sort(key=desired, reverse=True)
    sizes: Sizes = {}
    done = 0
    for each in ordered:
        share = 0
        if change != done:
            left = change - done
            share = min(_fraction(deployment, each), left) if change > 0 else max(_fraction(deployment, each), left)
        sizes[meta(each).name] = desired(each) + share
        done += share
    # Rounding can leave a remainder, which goes to the largest ReplicaSet.
    if ordered and change:
        first = meta(ordered[0]).name
        sizes[first] = max(0, sizes[first] + change - done)
    return sizes


def _fraction(deployment: apps_v1.Deployment, replica_set: apps_v1.ReplicaSet) -> int:
    """Return the change that keeps a ReplicaSet's share of the whole."""
    total = desired(deployment)
    if not total:
        return -desired(replica_set)
    before = max_replicas(replica_set) or int((deployment.get("status") or {}).get("replicas") or 0)
    if not before:
        return 0
    exact = desired(replica_set) * (total + max_surge(deployment)) / before
    return math.floor(exact + 0.5) - desired(replica_set)
