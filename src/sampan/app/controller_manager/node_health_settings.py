"""Settings that keep a node with a container runtime healthy. Names and meanings are the kubelet's."""

from dataclasses import dataclass
from typing import Final

from sampan.core.settings import ValueKind, setting
from sampan.core.settings.kinds import DURATION, integer
from sampan.node.eviction.thresholds import HARD, EvictionPolicy, eviction_thresholds
from sampan.node.garbage.images import ImagePolicy
from sampan.node.shutdown.policy import ShutdownPolicy, shutdown_policy

_PERCENT: Final = integer(0, 100, metavar="PERCENT")
_THRESHOLDS: Final = ValueKind("SIGNAL<QUANTITY,...", str)


@dataclass(frozen=True, slots=True)
class GarbageSettings:
    """Settings of image garbage collection."""

    image_gc_high_threshold: int = setting(
        85, "Use of the images' disk from which unused images are removed. 100: never remove any.", kind=_PERCENT
    )
    image_gc_low_threshold: int = setting(
        80, "Use of the images' disk down to which unused images are removed.", kind=_PERCENT
    )
    minimum_image_ttl_duration_s: float = setting(120.0, "Time for which a new image is kept.", kind=DURATION)
    image_maximum_gc_age_s: float = setting(
        0.0, "Time after which an unused image is removed in any case; 0: no limit.", kind=DURATION
    )

    def policy(self) -> ImagePolicy:
        """Return the limits. Raises `ValueError`."""
        policy = ImagePolicy(
            self.image_gc_high_threshold,
            self.image_gc_low_threshold,
            self.minimum_image_ttl_duration_s,
            self.image_maximum_gc_age_s,
        )
        policy.check()
        return policy


@dataclass(frozen=True, slots=True)
class EvictionSettings:
    """Amounts of free memory, disk space and process ids below which an agent evicts Pods of its node."""

    eviction_hard: str = setting(
        HARD,
        "Amounts below which a Pod is evicted at once. Empty: never.",
        kind=_THRESHOLDS,
    )
    eviction_soft: str = setting(
        "", "Amounts below which a Pod is evicted after --eviction-soft-grace-period.", kind=_THRESHOLDS
    )
    eviction_soft_grace_period: str = setting(
        "", "Times before soft evictions: memory.available=30s.", kind=ValueKind("SIGNAL=DURATION,...", str)
    )
    eviction_max_pod_grace_period: int = setting(
        0,
        "Longest grace period of a Pod that a soft threshold evicts.",
        kind=integer(0, metavar="SECONDS"),
    )
    eviction_pressure_transition_period_s: float = setting(
        300.0, "Time for which a condition of pressure stays after its last observation.", kind=DURATION
    )

    def policy(self) -> EvictionPolicy:
        """Return the thresholds and times. Raises `ValueError`."""
        thresholds = eviction_thresholds(self.eviction_hard, self.eviction_soft, self.eviction_soft_grace_period)
        return EvictionPolicy(
            thresholds, float(self.eviction_max_pod_grace_period), self.eviction_pressure_transition_period_s
        )


@dataclass(frozen=True, slots=True)
class ShutdownSettings:
    """Settings of the graceful shutdown of a node."""

    shutdown_grace_period_s: float = setting(
        0.0,
        "Time in which the Pods of the node end when the machine shuts down; without systemd, when `sampan node` "
        "gets SIGTERM. 0: Pods are not ended.",
        kind=DURATION,
    )
    shutdown_grace_period_critical_pods_s: float = setting(
        0.0, "Part of --shutdown-grace-period for critical Pods, which end last.", kind=DURATION
    )
    shutdown_grace_period_by_pod_priority: str = setting(
        "",
        "Times by priority in place of --shutdown-grace-period: 0=30s,10000=10s.",
        kind=ValueKind("PRIORITY=DURATION,...", str),
    )

    def policy(self) -> ShutdownPolicy:
        """Return the stages. Raises `ValueError`."""
        return shutdown_policy(
            self.shutdown_grace_period_s,
            self.shutdown_grace_period_critical_pods_s,
            self.shutdown_grace_period_by_pod_priority,
        )
