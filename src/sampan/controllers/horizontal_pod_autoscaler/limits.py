"""Limits on scaling: stabilization windows, scaling rates, and the minimum and maximum.

`ScalingHistory` belongs to one target. It is kept in memory only and lost with the process, as in Kubernetes.
Source: kubernetes pkg/controller/podautoscaler/horizontal.go `normalizeDesiredReplicas…` (1.36).
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from sampan.kinds import autoscaling_v2

DOWNSCALE_STABILIZATION_S: Final = 300
_SCALE_UP_FACTOR: Final = 2
_SCALE_UP_MINIMUM: Final = 4
_WITHIN: Final = ("DesiredWithinRange", "the desired count is within the acceptable range")
_TOO_MANY: Final = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
_TOO_FEW: Final = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")
_UP_LIMIT: Final = ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate")
_DOWN_LIMIT: Final = ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate")
_READY: Final = ("ReadyForNewScale", "recommended size matches current size")
_UP_STABILIZED: Final = (
    "ScaleUpStabilized",
    "recent recommendations were lower than current one, applying the lowest recent recommendation",
)
_DOWN_STABILIZED: Final = (
    "ScaleDownStabilized",
    "recent recommendations were higher than current one, applying the highest recent recommendation",
)

Direction = Literal["scaleUp", "scaleDown"]
"""Name of the field with the rules for one direction."""

ConditionText = tuple[str, str]
"""Reason and message of a condition."""


class Dated(NamedTuple):
    """A number with its time: a recommendation, or the size of a change."""

    at: dt.datetime
    value: int


@dataclass(slots=True)
class ScalingHistory:
    """Past recommendations for a target, and past changes of its size."""

    recommendations: list[Dated] = field(default_factory=list)
    ups: list[Dated] = field(default_factory=list)
    downs: list[Dated] = field(default_factory=list)

    def recommend(self, replicas: int, now: dt.datetime) -> None:
        """Record a recommendation."""
        self.recommendations.append(Dated(now, replicas))

    def changed(
        self, before: int, after: int, behavior: autoscaling_v2.HorizontalPodAutoscalerBehavior | None, now: dt.datetime
    ) -> None:
        """Record a change of the target's size. Events older than the longest policy period are dropped."""
        if behavior is None:
            return
        name: Direction = "scaleUp" if after > before else "scaleDown"
        events = self.ups if after > before else self.downs
        longest_s = max((policy["periodSeconds"] for policy in _policies(behavior, name)), default=0)
        events[:] = [event for event in events if event.at >= now - dt.timedelta(seconds=longest_s)]
        events.append(Dated(now, abs(after - before)))


@dataclass(frozen=True, slots=True)
class Proposal:
    """Recommended number of replicas, and the input of its limits."""

    current: int
    desired: int
    minimum: int
    maximum: int
    behavior: autoscaling_v2.HorizontalPodAutoscalerBehavior | None
    now: dt.datetime


class Limited(NamedTuple):
    """Number of replicas to scale to, and the conditions AbleToScale and ScalingLimited."""

    replicas: int
    able: ConditionText
    limited: bool
    limit: ConditionText


def limit(proposal: Proposal, history: ScalingHistory) -> Limited:
    """Apply all limits to the recommendation. Record the recommendation in `history`."""
    if proposal.behavior is None:
        stable = _stabilized_down(proposal, history)
        able = _READY if stable == proposal.desired else _DOWN_STABILIZED
        replicas, reason = _in_range(proposal, stable)
    else:
        stable, stabilized = _stabilized(proposal, history)
        able = _READY if stable == proposal.desired else stabilized
        replicas, reason = _at_rate(proposal, stable, history)
    return Limited(replicas, able, replicas != stable, reason)


def _stabilized_down(proposal: Proposal, history: ScalingHistory) -> int:
    """Return the highest recommendation within the stabilization window."""
    cutoff = proposal.now - dt.timedelta(seconds=DOWNSCALE_STABILIZATION_S)
    history.recommendations = [each for each in history.recommendations if each.at >= cutoff]
    highest = max((each.value for each in history.recommendations), default=proposal.desired)
    history.recommend(proposal.desired, proposal.now)
    return max(highest, proposal.desired)


def _stabilized(proposal: Proposal, history: ScalingHistory) -> tuple[int, ConditionText]:
    """Return the recommendation nearest to the current number, within the stabilization windows of `behavior`."""
    behavior = proposal.behavior
    up_from = proposal.now - dt.timedelta(seconds=_window_s(behavior, "scaleUp", 0))
    down_from = proposal.now - dt.timedelta(seconds=_window_s(behavior, "scaleDown", DOWNSCALE_STABILIZATION_S))
    history.recommendations = [each for each in history.recommendations if each.at >= min(up_from, down_from)]
    lowest = min([each.value for each in history.recommendations if each.at > up_from] + [proposal.desired])
    highest = max([each.value for each in history.recommendations if each.at > down_from] + [proposal.desired])
    history.recommend(proposal.desired, proposal.now)
    text = _UP_STABILIZED if proposal.desired >= proposal.current else _DOWN_STABILIZED
    return min(max(proposal.current, lowest), highest), text


def _in_range(proposal: Proposal, desired: int) -> tuple[int, ConditionText]:
    fastest = max(_SCALE_UP_FACTOR * proposal.current, _SCALE_UP_MINIMUM)
    most, reason = (fastest, _UP_LIMIT) if proposal.maximum > fastest else (proposal.maximum, _TOO_MANY)
    if desired < proposal.minimum:
        return proposal.minimum, _TOO_FEW
    return (most, reason) if desired > most else (desired, _WITHIN)


def _at_rate(proposal: Proposal, desired: int, history: ScalingHistory) -> tuple[int, ConditionText]:
    if desired > proposal.current:
        fastest = max(_up_limit(proposal, history), proposal.current)
        most, reason = (fastest, _UP_LIMIT) if proposal.maximum > fastest else (proposal.maximum, _TOO_MANY)
        if desired > most:
            return most, reason
    elif desired < proposal.current:
        slowest = min(_down_limit(proposal, history), proposal.current)
        least, reason = (slowest, _DOWN_LIMIT) if proposal.minimum < slowest else (proposal.minimum, _TOO_FEW)
        if desired < least:
            return least, reason
    return desired, _WITHIN


def _up_limit(proposal: Proposal, history: ScalingHistory) -> int:
    proposals = []
    for policy in _policies(proposal.behavior, "scaleUp"):
        before = _at_start(proposal, history, policy["periodSeconds"])
        if policy["type"] == "Pods":
            proposals.append(before + int(policy["value"]))
        else:
            # Round up: otherwise a change by less than one replica would never happen.
            proposals.append(math.ceil(before * (100 + policy["value"]) / 100))
    return _selected(proposal, "scaleUp", proposals, {"Min": min, "Max": max})


def _down_limit(proposal: Proposal, history: ScalingHistory) -> int:
    proposals = []
    for policy in _policies(proposal.behavior, "scaleDown"):
        before = _at_start(proposal, history, policy["periodSeconds"])
        if policy["type"] == "Pods":
            proposals.append(before - int(policy["value"]))
        else:
            proposals.append(int(before * (100 - policy["value"]) / 100))
    return _selected(proposal, "scaleDown", proposals, {"Min": max, "Max": min})


def _selected(proposal: Proposal, name: Direction, proposals: list[int], choices: dict[str, object]) -> int:
    select = _rules(proposal.behavior, name).get("selectPolicy", "Max")
    if select == "Disabled" or not proposals:
        return proposal.current
    choose = choices["Min" if select == "Min" else "Max"]
    assert callable(choose)
    return int(choose(proposals))


def _at_start(proposal: Proposal, history: ScalingHistory, period_s: int) -> int:
    """Return the number of replicas at the start of a policy's period."""
    cutoff = proposal.now - dt.timedelta(seconds=period_s)
    added = sum(each.value for each in history.ups if each.at > cutoff)
    removed = sum(each.value for each in history.downs if each.at > cutoff)
    return proposal.current - added + removed


def _rules(
    behavior: autoscaling_v2.HorizontalPodAutoscalerBehavior | None, name: Direction
) -> autoscaling_v2.HPAScalingRules:
    return (behavior.get(name) if behavior is not None else None) or {}


def _policies(
    behavior: autoscaling_v2.HorizontalPodAutoscalerBehavior | None, name: Direction
) -> list[autoscaling_v2.HPAScalingPolicy]:
    return _rules(behavior, name).get("policies") or []


def _window_s(behavior: autoscaling_v2.HorizontalPodAutoscalerBehavior | None, name: Direction, default_s: int) -> int:
    seconds = _rules(behavior, name).get("stabilizationWindowSeconds")
    return default_s if seconds is None else int(seconds)
