"""`wait_for`: waits for a condition."""

import time
from collections.abc import Callable


def wait_for(
    condition: Callable[[], object], what: str, timeout_s: float = 30.0, *, state: Callable[[], str] = str
) -> None:
    """Wait until a condition holds. `state` returns what a failure shows."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"timed out: {what}{state()}"
        time.sleep(0.05)
