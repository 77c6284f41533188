"""Annotations of Pods that control simulated containers.

| annotation | value | meaning |
|---|---|---|
| `sampan.dev/ready-after` | duration, `2s` | time from start to ready; at once by default |
| `sampan.dev/complete-after` | duration | time from start to end, with exit code 0 or that of `exit-code` |
| `sampan.dev/fail-after` | duration | the same with exit code 1; overrides `complete-after` |
| `sampan.dev/fail-times` | number | starts to which `fail-after` applies; later ones run on. All by default |
| `sampan.dev/exit-code` | number, 0–255 | exit code, also of containers that are stopped |
| `sampan.dev/termination-message` | text | what containers that end by themselves report |
| `sampan.dev/stop-after` | duration | time that a container takes to stop, at most the grace period |
| `sampan.dev/image-pull-fails` | `always`, or a duration | how long after the Pod's creation pulls of images fail |
| `sampan.dev/cpu` | quantity, `250m` | CPU that each running container uses |
| `sampan.dev/memory` | quantity, `64Mi` | memory that each running container uses |

By default, containers of Pods with restart policy Always run until they are stopped; those of other Pods succeed at
once. The annotations are read when the Pod starts. Later changes have no effect. Init containers succeed at once.
Sidecars run until they are stopped. Without any annotation, pulls fail for images of a registry whose name starts with
`invalid.` or ends with `.invalid`.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from sampan.core.numbers.integers import integer_or
from sampan.core.numbers.quantity import parse as parse_quantity
from sampan.core.time import NANOSECONDS_PER_SECOND, parse_duration

READY_AFTER: Final = "sampan.dev/ready-after"
COMPLETE_AFTER: Final = "sampan.dev/complete-after"
FAIL_AFTER: Final = "sampan.dev/fail-after"
FAIL_TIMES: Final = "sampan.dev/fail-times"
EXIT_CODE: Final = "sampan.dev/exit-code"
TERMINATION_MESSAGE: Final = "sampan.dev/termination-message"
STOP_AFTER: Final = "sampan.dev/stop-after"
IMAGE_PULL_FAILS: Final = "sampan.dev/image-pull-fails"
CPU: Final = "sampan.dev/cpu"
MEMORY: Final = "sampan.dev/memory"

_log = logging.getLogger("sampan.node")


@dataclass(frozen=True, slots=True)
class Script:
    """Behaviour of a Pod's containers. Times are in seconds."""

    ready_after_s: float = 0.0
    end_after_s: float | None = None
    """Time from start to end; None: containers run until they are stopped."""
    exit_code: int = 0
    message: str = ""
    """Termination message of containers that end by themselves."""
    fail_times: int = 0
    """Number of runs that end by themselves; later ones run until they are stopped. 0: all."""
    stop_after_s: float = 0.0
    stopped_exit_code: int = 143
    """Exit code of a container that is stopped; 143 is that of a process that SIGTERM ended."""
    image_fails_s: float = 0.0
    """Time after the Pod's creation during which pulls of its images fail."""
    cpu_cores: float = 0.0
    memory_bytes: float = 0.0

    def of_start(self, restart_count: int) -> "Script":
        """Return the script of one start of a container."""
        ends = not self.fail_times or restart_count < self.fail_times
        return self if ends else replace(self, end_after_s=None)


def script_of(annotations: Mapping[str, str], restart_policy: str) -> Script:
    """Return the script of a Pod's ordinary containers. Malformed annotations are logged and ignored."""
    exit_code = _exit_code(annotations)
    fail_after_s = _seconds(annotations, FAIL_AFTER)
    end_after_s = fail_after_s if fail_after_s is not None else _seconds(annotations, COMPLETE_AFTER)
    if end_after_s is None and restart_policy != "Always":
        end_after_s = 0.0
    default = 0 if fail_after_s is None else 1
    return Script(
        ready_after_s=_seconds(annotations, READY_AFTER) or 0.0,
        end_after_s=end_after_s,
        exit_code=default if exit_code is None else exit_code,
        message=annotations.get(TERMINATION_MESSAGE, ""),
        fail_times=0 if fail_after_s is None else max(0, integer_or(annotations.get(FAIL_TIMES, ""), 0)),
        stop_after_s=_seconds(annotations, STOP_AFTER) or 0.0,
        stopped_exit_code=143 if exit_code is None else exit_code,
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
        _log.warning("ignoring annotation %s: %s", name, error)
        return None


def _amount(annotations: Mapping[str, str], name: str, scale: int) -> float | None:
    """Return an amount, rounded up to a multiple of `10 ** scale`; None without the annotation, or
    if it is malformed.
    """
    text = annotations.get(name)
    if text is None:
        return None
    try:
        return float(max(0, parse_quantity(text).scaled_value(scale))) * 10.0**scale
    except ValueError as error:
        _log.warning("ignoring annotation %s: %s", name, error)
        return None


def _exit_code(annotations: Mapping[str, str]) -> int | None:
    text = annotations.get(EXIT_CODE)
    if text is None:
        return None
    code = integer_or(text, -1)
    if 0 <= code <= 255:
        return code
    _log.warning("ignoring annotation %s: %r is not a number from 0 to 255", EXIT_CODE, text)
    return None
