"""Order in which Pods end when their node shuts down, and the time limit of each stage.

Source: kubelet pkg/kubelet/nodeshutdown/nodeshutdown_manager.go,
pkg/kubelet/apis/config/validation/validation.go (1.36).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sampan.core.time import NANOSECONDS_PER_SECOND, parse_duration
from sampan.node.admission.node_state import CRITICAL
from sampan.node.views.pod import Pod

_MINIMUM_S = 1.0


@dataclass(frozen=True, slots=True)
class ShutdownStage:
    """Lowest priority of the Pods in a stage, and the seconds that they have to end."""

    priority: int
    grace_s: float


@dataclass(frozen=True, slots=True)
class ShutdownPolicy:
    """Stages of a shutdown, the lowest priority first. Without stages, Pods are not stopped."""

    stages: tuple[ShutdownStage, ...] = ()

    @property
    def total_s(self) -> float:
        """Longest time of a shutdown in seconds."""
        return sum(stage.grace_s for stage in self.stages)

    def stage_of(self, priority: int) -> int:
        """Return the index of the stage of a priority. The first stage also contains all lower priorities."""
        reached = [number for number, stage in enumerate(self.stages) if stage.priority <= priority]
        return max(reached, default=0)

    def staged(self, pods: Iterable[Pod]) -> list[tuple[ShutdownStage, list[Pod]]]:
        """Return the stages that have Pods, with their Pods."""
        found: list[tuple[ShutdownStage, list[Pod]]] = [(stage, []) for stage in self.stages]
        for pod in pods:
            found[self.stage_of(pod.spec.priority or 0)][1].append(pod)
        return [(stage, members) for stage, members in found if members]


def shutdown_policy(grace_s: float, critical_s: float, by_priority: str) -> ShutdownPolicy:
    """Return the stages that the options set. Raises a `ValueError` that names the option."""
    for option, seconds in (("", grace_s), ("-critical-pods", critical_s)):
        if 0 < seconds < _MINIMUM_S:
            raise ValueError(f"--shutdown-grace-period{option} must be either zero or at least 1s")
    if critical_s > grace_s:
        raise ValueError("--shutdown-grace-period-critical-pods must not be longer than --shutdown-grace-period")
    stages = _stages(by_priority)
    if stages and grace_s:
        raise ValueError("--shutdown-grace-period-by-pod-priority cannot be combined with --shutdown-grace-period")
    if stages or not grace_s:
        return ShutdownPolicy(stages)
    return ShutdownPolicy((ShutdownStage(0, grace_s - critical_s), ShutdownStage(CRITICAL, critical_s)))


def _stages(text: str) -> tuple[ShutdownStage, ...]:
    """Return the stages of a text such as `0=30s,10000=10s`."""
    found: dict[int, ShutdownStage] = {}
    option = "--shutdown-grace-period-by-pod-priority"
    for part in filter(None, (part.strip() for part in text.split(","))):
        priority, _, duration = part.partition("=")
        try:
            number, seconds = int(priority), parse_duration(duration) / NANOSECONDS_PER_SECOND
        except ValueError as error:
            raise ValueError(f"{option}: {part!r} is not PRIORITY=DURATION, as in 0=30s: {error}") from error
        if number in found or seconds < 0:
            raise ValueError(f"{option}: {part!r}: each priority needs one duration that is not negative")
        found[number] = ShutdownStage(number, seconds)
    return tuple(found[number] for number in sorted(found))


def names_of(pods: Sequence[Pod]) -> list[str]:
    """Return the keys of Pods, for a log line."""
    return sorted(pod.key for pod in pods)
