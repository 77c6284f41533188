"""The annotations by which a Pod tells simulated nodes what its containers do.

| annotation | value | meaning |
|---|---|---|
| `sampan.dev/ready-after` | a duration, `2s` | they become ready so long after their start; else at once |
| `sampan.dev/complete-after` | a duration | they end so long after it, with exit code 0 or that of `exit-code` |
| `sampan.dev/fail-after` | a duration | the same with exit code 1; goes before `complete-after` |
| `sampan.dev/exit-code` | a number, 0–255 | the exit code, also of containers that are stopped |
| `sampan.dev/stop-after` | a duration | how long they take to end when they are stopped, at most the grace period |
| `sampan.dev/image-pull-fails` | `always`, or a duration | for so long from its creation no image can be pulled |
| `sampan.dev/cpu` | a quantity, `250m` | the CPU that each of them uses while it runs |
| `sampan.dev/memory` | a quantity, `64Mi` | the memory that each of them uses |

Containers of Pods that restart always run for ever, those of others succeed at once, unless they are told otherwise.
What a Pod's annotations say when it starts holds for as long as it is there.
Init containers succeed at once; sidecars run until they are stopped.
Images of a registry whose name begins with `invalid.` or ends with `.invalid` can never be pulled, without annotation.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Final

from sampan.core.integers import integer_or
from sampan.core.quantity import parse as parse_quantity
from sampan.core.time import NANOSECONDS_PER_SECOND, parse_duration

READY_AFTER: Final = "sampan.dev/ready-after"
COMPLETE_AFTER: Final = "sampan.dev/complete-after"
FAIL_AFTER: Final = "sampan.dev/fail-after"
EXIT_CODE: Final = "sampan.dev/exit-code"
STOP_AFTER: Final = "sampan.dev/stop-after"
IMAGE_PULL_FAILS: Final = "sampan.dev/image-pull-fails"
CPU: Final = "sampan.dev/cpu"
MEMORY: Final = "sampan.dev/memory"

_log = logging.getLogger("sampan.node")


@dataclass(frozen=True, slots=True)
class Script:
    """What the containers of a Pod do; times in seconds."""

    ready_after_s: float = 0.0
    end_after_s: float | None = None
    """None: they run until they are stopped."""
    exit_code: int = 0
    stop_after_s: float = 0.0
    stopped_exit_code: int = 143
    """Of a process that ends by SIGTERM, unless the Pod says another."""
    image_fails_s: float = 0.0
    """So long after the Pod's creation its images cannot be pulled."""
    cpu_cores: float = 0.0
    memory_bytes: float = 0.0


def script_of(annotations: Mapping[str, str], restart_policy: str) -> Script:
    """The script of a Pod's ordinary containers. What cannot be read is logged and counts as not said."""
    said = _exit_code(annotations)
    fail_after_s = _seconds(annotations, FAIL_AFTER)
    end_after_s = fail_after_s if fail_after_s is not None else _seconds(annotations, COMPLETE_AFTER)
    if end_after_s is None and restart_policy != "Always":
        end_after_s = 0.0
    default = 0 if fail_after_s is None else 1
    return Script(
        ready_after_s=_seconds(annotations, READY_AFTER) or 0.0,
        end_after_s=end_after_s,
        exit_code=default if said is None else said,
        stop_after_s=_seconds(annotations, STOP_AFTER) or 0.0,
        stopped_exit_code=143 if said is None else said,
        image_fails_s=_image_fails_s(annotations),
        cpu_cores=_amount(annotations, CPU, -9) or 0.0,
        memory_bytes=_amount(annotations, MEMORY, 0) or 0.0,
    )


def _image_fails_s(annotations: Mapping[str, str]) -> float:
    return inf if annotations.get(IMAGE_PULL_FAILS) == "always" else _seconds(annotations, IMAGE_PULL_FAILS) or 0.0


def _seconds(annotations: Mapping[str, str], name: str) -> float | None:
    text = annotations.get(name)
    if text is None:
        return None
    try:
        return max(0.0, parse_duration(text) / NANOSECONDS_PER_SECOND)
    except ValueError as error:
        _log.warning("annotation %s: %s", name, error)
        return None


def _amount(annotations: Mapping[str, str], name: str, scale: int) -> float | None:
    """The amount; exact to that power of ten."""
    text = annotations.get(name)
    if text is None:
        return None
    try:
        return float(max(0, parse_quantity(text).scaled_value(scale))) * 10.0**scale
    except ValueError as error:
        _log.warning("annotation %s: %s", name, error)
        return None


def _exit_code(annotations: Mapping[str, str]) -> int | None:
    text = annotations.get(EXIT_CODE)
    if text is None:
        return None
    code = integer_or(text, -1)
    if 0 <= code <= 255:
        return code
    _log.warning("annotation %s: %r is no number from 0 to 255", EXIT_CODE, text)
    return None
