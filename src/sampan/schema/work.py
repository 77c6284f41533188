"""Bound on the work of validating one object.

Most of the work grows with the size of the object or of its schema. Junctors (`allOf`, `anyOf`, `oneOf`) in lists grow
with the product of both: an object of a few kilobytes may need millions of checks. Each part of a validation
counts its steps here.
"""

from contextvars import ContextVar, Token
from typing import Final

from sampan.core.errors import request_entity_too_large

STEPS_MAX: Final = 2_000_000
"""Maximum number of steps of one validation, which take one or two seconds. The largest object without junctors needs
about half of them.
"""
REPORT_STEPS: Final = 10
"""Number of steps counted for the error report of one value, because a report takes this many times as long as
a check.
"""

Steps = list[int]
_left: ContextVar[Steps | None] = ContextVar("steps left of a validation", default=None)


def begin_steps() -> Token[Steps | None]:
    """Count steps in this context until `end_steps`."""
    return _left.set([STEPS_MAX])


def end_steps(token: Token[Steps | None]) -> None:
    """Do not count any more."""
    _left.reset(token)


def spend(steps: int) -> None:
    """Count steps. Raises 413 if there were too many since `begin_steps`."""
    left = _left.get()
    if left is None:
        return
    left[0] -= steps
    if left[0] < 0:
        raise request_entity_too_large(f"validating the object by its schema takes more than {STEPS_MAX} steps")
