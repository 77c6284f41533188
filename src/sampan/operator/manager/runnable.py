"""`Runnable`: a part of an operator, and its group.

Source: controller-runtime pkg/manager/{manager,runnable_group}.go (0.24).
"""

import enum
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol


class Group(enum.IntEnum):
    """Groups, in the order in which they start."""

    HTTP_SERVERS = 0
    """Probes and metrics, which are served while the other groups start."""
    WEBHOOKS = 1
    """Webhooks start before the caches, because lists may need conversions."""
    CACHES = 2
    OTHERS = 3
    """Runnables of every replica, leader or not."""
    WARM_UP = 4
    """Preparations that are possible before this replica leads."""
    LEADER_ELECTED = 5


class Runnable(Protocol):
    """Object that runs until cancelled. These members are optional:

    - `needs_leader_election: bool`: only the leader runs it; the default is True
    - `async ready()`: returns when the object is ready; then the next group starts
    - `async drain()`: finishes running work and starts no new work; then the object is cancelled
    - `rights() -> list[Right]`: rights on the API server that it needs, for the operator's role
    - `async warm_up()`, with `warms_up: bool` True: runs before this replica leads
    """

    async def run(self) -> None:
        """Run until cancelled, or until the work is done. An exception ends the manager."""
        ...


@dataclass(frozen=True, slots=True)
class GroupMember:
    """Name and methods of a runnable, as its group needs them."""

    name: str
    run: Callable[[], Awaitable[None]]
    ready: Callable[[], Awaitable[None]] | None = None
    drain: Callable[[], Awaitable[None]] | None = None
    observed: bool = False
    """True for code of the user."""


def member_of(runnable: Runnable | Callable[[], Awaitable[None]]) -> GroupMember:
    """Return the member for a runnable or an asynchronous function. Raises `TypeError`."""
    run: Any = getattr(runnable, "run", runnable)
    if isinstance(runnable, type) or not callable(run):
        raise TypeError(f"{runnable!r} is neither an asynchronous function nor an object with a method `run`")
    name = str(runnable) if hasattr(runnable, "run") else getattr(runnable, "__qualname__", str(runnable))
    observed = not getattr(run, "__module__", "").startswith("sampan.")
    return GroupMember(name, run, getattr(runnable, "ready", None), getattr(runnable, "drain", None), observed)


def group_of(runnable: object) -> Group:
    """Return the default group of a runnable."""
    return Group.LEADER_ELECTED if getattr(runnable, "needs_leader_election", True) else Group.OTHERS
