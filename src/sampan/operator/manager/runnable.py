"""`Runnable`: what a manager runs, and in which group.

Source: controller-runtime pkg/manager/{manager,runnable_group}.go (0.24).
"""

import enum
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol


class Group(enum.IntEnum):
    """The groups, in the order in which they start."""

    HTTP_SERVERS = 0
    """Probes and metrics: they answer while everything else still starts."""
    WEBHOOKS = 1
    """Before the caches: lists may need conversions."""
    CACHES = 2
    OTHERS = 3
    """What every replica runs, leader or not."""
    WARM_UP = 4
    """What can be prepared before this replica leads."""
    LEADER_ELECTED = 5


class Runnable(Protocol):
    """Something that runs until it is cancelled. It may have more, all optional:

    - `needs_leader_election: bool`: whether only the leader runs it; what does not say so counts as True
    - `async ready()`: returns when it is ready; the next group starts after that
    - `async drain()`: ends what was begun and begins nothing more; then it is cancelled
    - `async warm_up()`, with `warms_up: bool` True: runs before this replica leads
    """

    async def run(self) -> None:
        """Run until cancelled, or until nothing is left to do. What it raises ends the manager."""
        ...


@dataclass(frozen=True, slots=True)
class Member:
    """A runnable as its group sees it."""

    name: str
    run: Callable[[], Awaitable[None]]
    ready: Callable[[], Awaitable[None]] | None = None
    drain: Callable[[], Awaitable[None]] | None = None


def member_of(runnable: Runnable | Callable[[], Awaitable[None]]) -> Member:
    """The member that a runnable, or an asynchronous function, makes. Raises `TypeError`."""
    run: Any = getattr(runnable, "run", runnable)
    if isinstance(runnable, type) or not callable(run):
        raise TypeError(f"{runnable!r} is neither an asynchronous function nor an object with a method `run`")
    name = str(runnable) if hasattr(runnable, "run") else getattr(runnable, "__qualname__", str(runnable))
    return Member(name, run, getattr(runnable, "ready", None), getattr(runnable, "drain", None))


def group_of(runnable: object) -> Group:
    """Where a runnable belongs that was not told where."""
    return Group.LEADER_ELECTED if getattr(runnable, "needs_leader_election", True) else Group.OTHERS
