"""`read_points`: the usage of a node and its containers, from the text of /metrics/resource.

Source: kubelet pkg/kubelet/metrics/collectors/resource_metrics.go (1.36); metrics-server pkg/scraper/client/resource
(0.9).
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

_SAMPLE: Final = re.compile(
    rb"(node|container)_(cpu_usage_seconds_total|memory_working_set_bytes|start_time_seconds)"
    rb"(?:\{([^}\n]*)\})? ([-+.0-9a-zA-Z]{1,40})(?: ([0-9]{1,13}))?\r?"
)
_LABEL: Final = re.compile(rb'(container|namespace|pod)="([-.a-z0-9]{1,253})"')
_LINE_BYTES_MAX: Final = 2048
POINTS_MAX: Final = 10_000
"""Containers of one response. A node has some hundreds."""
_CPU, _MEMORY, _START = b"cpu_usage_seconds_total", b"memory_working_set_bytes", b"start_time_seconds"
_MAXIMUM: Final = 1e18
"""Largest number that is accepted: its thousand-millionths are no usage of a machine."""


class PointKey(NamedTuple):
    """Name of what was measured: a container of a Pod, or the node (all empty)."""

    namespace: str = ""
    pod: str = ""
    container: str = ""


NODE: Final = PointKey()


@dataclass(frozen=True, slots=True)
class Point:
    """Usage at one time."""

    time_s: float
    """Time of the measurement, in seconds since the epoch."""
    cpu_s: float
    """Seconds of CPU time since the start."""
    memory_bytes: int
    started_s: float = 0.0
    """Start of the container, in seconds since the epoch; 0 if it is unknown."""


def read_points(text: bytes, now_s: float) -> Mapping[PointKey, Point]:
    """Return what has both values, for CPU and memory. `now_s`: time of values without one.

    Other metrics, values that are no number and names that no object can have are left out, and so are
    containers after `POINTS_MAX`.
    """
    found: dict[PointKey, dict[bytes, tuple[float, float]]] = {}
    # Line by line: one search through a long text would keep other threads from running until its end.
    for line in text.split(b"\n"):
        sample = _SAMPLE.fullmatch(line) if len(line) <= _LINE_BYTES_MAX else None
        if sample is None:
            continue
        what, metric, labels, number, time_ms = sample.groups()
        key, value = _key(what, labels or b""), _number(number)
        if key is not None and value is not None and (key in found or len(found) < POINTS_MAX):
            found.setdefault(key, {})[metric] = value, int(time_ms) / 1000 if time_ms else now_s
    return {key: _point(values) for key, values in found.items() if _CPU in values and _MEMORY in values}


def _point(values: Mapping[bytes, tuple[float, float]]) -> Point:
    (cpu_s, time_s), (memory, _) = values[_CPU], values[_MEMORY]
    return Point(time_s, cpu_s, int(memory), values[_START][0] if _START in values else 0.0)


def _key(what: bytes, labels: bytes) -> PointKey | None:
    if what == b"node":
        return NODE
    named = {name: value.decode() for name, value in _LABEL.findall(labels)}
    if len(named) < 3:
        return None
    return PointKey(named[b"namespace"], named[b"pod"], named[b"container"])


def _number(text: bytes) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value < _MAXIMUM else None
