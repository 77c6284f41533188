"""`HistorySettings`: how much of its past a store keeps."""

import re
from dataclasses import dataclass
from typing import Final

from sampan.core.settings import ValueKind, setting
from sampan.core.settings.kinds import POSITIVE_DURATION

INTERVAL_S: Final = 300.0
"""Interval of compactions, and the time that Kubernetes keeps."""
_MEASURED_INTERVAL_S: Final = 30.0
_SIZE: Final = re.compile(r"(\d+)(?:([KMGT])i?B?)?")
_POWERS: Final = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def _read_size(text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a size, as in 512MiB or 1GiB")
    number, unit = found.groups(default="")
    return int(number) << (10 * _POWERS[unit])


def _write_size(size_bytes: int) -> str:
    for unit in ("T", "G", "M", "K"):
        shift = 10 * _POWERS[unit]
        if size_bytes and size_bytes % (1 << shift) == 0:
            return f"{size_bytes >> shift}{unit}iB"
    return str(size_bytes)


SIZE: Final = ValueKind("SIZE", _read_size, _write_size)
"""Number of bytes, with a unit of 1024: 512MiB, 1GiB."""


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """Limits of the past states that can be listed, watched and shown as the history of an object."""

    retention_s: float = setting(
        INTERVAL_S,
        "Time that past states are kept for `kubectl sampan history`, the dashboard and watches. Counted from the "
        "start of the server. With etcd, every server must have the same value.",
        kind=POSITIVE_DURATION,
    )
    bytes_max: int = setting(
        0,
        "Limit of the values of past states, as in 1GiB; 0: none. Above it the oldest are removed first, within "
        "30 seconds. Not with --storage etcd.",
        name="bytes",
        kind=SIZE,
    )

    def check(self, *, shared: bool) -> None:
        """Raise `ValueError` if the engine cannot have these limits. `shared`: several servers can share its stores."""
        if self.bytes_max and shared:
            raise ValueError("--history-bytes does not work with --storage etcd: limit the database in etcd")

    @property
    def interval_s(self) -> float:
        """Interval at which the store is compacted. A limit of the size is checked more often."""
        return min(_MEASURED_INTERVAL_S if self.bytes_max else INTERVAL_S, self.retention_s)
