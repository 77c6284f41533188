"""Planted bugs: each removes one of the checks that keep two Pods from leading. The random runs must find them."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from sampan.client import Conflict, MergePatch
from sampan.resource import Object

from captains.captain import ship
from captains.captain.ship import Ship
from captains.captain.term import Term

Bug = Callable[[pytest.MonkeyPatch], None]


def without_epoch_check(patch: pytest.MonkeyPatch) -> None:
    """An operator does not see that its term is over."""
    patch.setattr(Ship, "_check", lambda self, term, pods: None)


def without_fence(patch: pytest.MonkeyPatch) -> None:
    """Pods are written without their resourceVersion."""

    def unconditional(content: Any) -> MergePatch:
        del content["metadata"]["resourceVersion"]
        return MergePatch(content)

    patch.setattr(ship, "MergePatch", unconditional)


def without_lease_check(patch: pytest.MonkeyPatch) -> None:
    """A Lease that another operator has written is read again, and written over."""
    write = Ship.write

    async def over(self: Ship, lease: Object, term: Term) -> Object:
        try:
            return await write(self, lease, term)
        except Conflict:
            return await write(self, await self.lease(), term)

    patch.setattr(Ship, "write", over)


BUGS: Final[list[Bug]] = [without_epoch_check, without_fence, without_lease_check]
