"""Eviction thresholds: amounts of memory, disk and process ids below which a node is under pressure.

Source: kubelet pkg/kubelet/eviction/{helpers.go,defaults_linux.go} (1.36).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sampan.core.numbers.quantity import Format, Quantity, parse
from sampan.core.time import NANOSECONDS_PER_SECOND, parse_duration

MEMORY: Final = "memory.available"
NODE_FS: Final = "nodefs.available"
NODE_INODES: Final = "nodefs.inodesFree"
IMAGE_FS: Final = "imagefs.available"
IMAGE_INODES: Final = "imagefs.inodesFree"
PIDS: Final = "pid.available"
SIGNALS: Final = (MEMORY, NODE_FS, NODE_INODES, IMAGE_FS, IMAGE_INODES, PIDS)
IN_BYTES: Final = (MEMORY, NODE_FS, IMAGE_FS)
"""Signals that are amounts of bytes. All other signals are counts."""
CONDITIONS: Final = {
    MEMORY: "MemoryPressure",
    NODE_FS: "DiskPressure",
    NODE_INODES: "DiskPressure",
    IMAGE_FS: "DiskPressure",
    IMAGE_INODES: "DiskPressure",
    PIDS: "PIDPressure",
}
RESOURCES: Final = {
    MEMORY: "memory",
    NODE_FS: "ephemeral-storage",
    NODE_INODES: "inodes",
    IMAGE_FS: "ephemeral-storage",
    IMAGE_INODES: "inodes",
    PIDS: "pids",
}
HARD: Final = (
    "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,imagefs.inodesFree<5%"
)
"""Hard thresholds that apply unless the configuration sets others, as in the kubelet."""
_PERCENT: Final = 100.0


@dataclass(frozen=True, slots=True)
class Threshold:
    """Amount of a signal below which Pods are evicted."""

    signal: str
    amount: int = 0
    """In bytes, or a count; 0 for a threshold in percent."""
    percent: float = 0.0
    grace_s: float = 0.0
    """Time for which the signal must be below the threshold; 0 for a hard threshold."""

    @property
    def is_hard(self) -> bool:
        """True if Pods are evicted at once."""
        return self.grace_s == 0.0

    def of(self, capacity: int) -> int:
        """Return the amount of the threshold for a node with this capacity."""
        return int(capacity * (self.percent / _PERCENT)) if self.percent else self.amount


@dataclass(frozen=True, slots=True)
class EvictionPolicy:
    """Thresholds of a node, and times of evictions. The defaults are the kubelet's."""

    thresholds: tuple[Threshold, ...] = ()
    pod_grace_s_max: float = 0.0
    """Longest grace period of a Pod that a soft threshold evicts."""
    transition_s: float = 300.0
    """Time for which a condition stays after its signal was last below a threshold."""


def eviction_thresholds(hard: str, soft: str, grace_periods: str) -> tuple[Threshold, ...]:
    """Return the thresholds that the options set. Raises a `ValueError` that names the option."""
    found = [Threshold(signal, amount, percent) for signal, amount, percent in _thresholds("--eviction-hard", hard)]
    periods = dict(_grace_periods("--eviction-soft-grace-period", grace_periods))
    for signal, amount, percent in _thresholds("--eviction-soft", soft):
        if signal not in periods:
            raise ValueError(
                f"--eviction-soft-grace-period: grace period must be specified for the soft eviction threshold {signal}"
            )
        found.append(Threshold(signal, amount, percent, periods[signal]))
    return tuple(found)


def text_of(signal: str, amount: int) -> str:
    """Return an amount of a signal as a quantity: `100Mi`."""
    return str(Quantity(amount, 0, Format.BINARY_SI if signal in IN_BYTES else Format.DECIMAL_SI))


def _thresholds(option: str, text: str) -> Iterator[tuple[str, int, float]]:
    """Yield signal, amount and percent of each part: `memory.available<100Mi,nodefs.available<10%`."""
    seen = set()
    for part in _parts(text):
        signal, less, value = part.partition("<")
        if not less or not value:
            raise ValueError(f"{option}: {part!r} is not SIGNAL<QUANTITY, as in memory.available<100Mi")
        _check_signal(option, signal)
        if signal in seen:
            raise ValueError(f"{option}: duplicate eviction threshold for {signal}")
        seen.add(signal)
        if value not in ("0%", "100%"):  # These disable a threshold.
            yield (signal, *_value(option, signal, value))


def _value(option: str, signal: str, value: str) -> tuple[int, float]:
    try:
        amount, percent = (0, float(value[:-1])) if value.endswith("%") else (parse(value).value(), 0.0)
    except ValueError as error:
        raise ValueError(f"{option}: {signal}: {value!r} is neither a quantity nor a percentage: {error}") from error
    if value.endswith("%") and not 0 < percent < _PERCENT:
        raise ValueError(f"{option}: eviction percentage threshold {signal} must be between 0% and 100%: {value}")
    if not percent and amount <= 0:
        raise ValueError(f"{option}: eviction threshold {signal} must be positive: {value}")
    return amount, percent


def _grace_periods(option: str, text: str) -> Iterator[tuple[str, float]]:
    for part in _parts(text):
        signal, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"{option}: {part!r} is not SIGNAL=DURATION, as in memory.available=30s")
        _check_signal(option, signal)
        try:
            seconds = parse_duration(value) / NANOSECONDS_PER_SECOND
        except ValueError as error:
            raise ValueError(f"{option}: {signal}: {error}") from error
        if seconds <= 0:
            raise ValueError(f"{option}: invalid eviction grace period specified: {value}, must be a positive value")
        yield signal, seconds


def _check_signal(option: str, signal: str) -> None:
    if signal not in SIGNALS:
        raise ValueError(f"{option}: unsupported eviction signal {signal}: expected one of {', '.join(SIGNALS)}")


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
