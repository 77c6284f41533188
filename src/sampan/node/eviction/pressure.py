"""Pressure of a node: its conditions, and the thresholds for which it must evict a Pod now.

Source: kubelet pkg/kubelet/eviction/eviction_manager.go `synchronize`, helpers.go (1.36).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sampan.node.eviction.thresholds import CONDITIONS, IMAGE_FS, IMAGE_INODES, MEMORY, EvictionPolicy, Threshold


@dataclass(frozen=True, slots=True)
class SignalValue:
    """Free amount and total of a resource: bytes, inodes or process ids."""

    available: int
    capacity: int


Signals = Mapping[str, SignalValue]
"""Values by signal. A signal that cannot be read is missing."""


@dataclass(frozen=True, slots=True)
class Pressure:
    """State between two passes. Times are in seconds since 1970."""

    first_met: Mapping[Threshold, float] = field(default_factory=dict)
    """Thresholds that are met, with the time when they were first met."""
    last_seen: Mapping[str, float] = field(default_factory=dict)
    """Conditions, with the time of their last observation."""
    conditions: frozenset[str] = frozenset()
    """Conditions that the node reports."""
    due: tuple[Threshold, ...] = ()
    """Thresholds whose grace period is over, the most urgent first."""


def met(thresholds: Iterable[Threshold], signals: Signals) -> list[Threshold]:
    """Return the thresholds that are met: their signals are below them."""
    return [
        each
        for each in thresholds
        if (observed := signals.get(each.signal)) is not None and observed.available < each.of(observed.capacity)
    ]


def advanced(before: Pressure, signals: Signals, policy: EvictionPolicy, now: float) -> Pressure:
    """Return the state after an observation."""
    first_met = {each: before.first_met.get(each, now) for each in met(policy.thresholds, signals)}
    last_seen = {**before.last_seen, **{CONDITIONS[each.signal]: now for each in first_met}}
    conditions = frozenset(
        name
        for name, at in last_seen.items()
        if now - at < policy.transition_s or any(CONDITIONS[each.signal] == name for each in first_met)
    )
    due = [each for each, since in first_met.items() if now - since >= each.grace_s]
    return Pressure(first_met, last_seen, conditions, tuple(sorted(due, key=_urgency)))


def reclaims_disk(signal: str, *, has_image_disk: bool) -> bool:
    """Return whether images and dead containers occupy the resource of a signal.

    `has_image_disk`: True if images and containers have their own file system.
    """
    if CONDITIONS[signal] != "DiskPressure":
        return False
    return signal in (IMAGE_FS, IMAGE_INODES) or not has_image_disk


def _urgency(threshold: Threshold) -> tuple[bool, bool]:
    """Sort key: memory first, and a hard threshold before a soft one."""
    return threshold.signal != MEMORY, not threshold.is_hard
