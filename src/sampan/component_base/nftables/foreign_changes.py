"""`ForeignChanges`: finds out whether another program has changed the own tables."""

from collections.abc import Callable
from typing import Final

from sampan.component_base.netlink import RuleChange, RuleChanges

_WAITING_MAX: Final = 1000
"""Transactions that wait for the next question. More than these count as a foreign change."""


class ForeignChanges:
    """Compares the transactions that the kernel reports with the own ones.

    The kernel reports a transaction before or after the call that made it returns. So the question comes between
    two writes, when all own transactions are known.
    """

    def __init__(self, table: str, noticed: Callable[[], None]) -> None:
        """`noticed` is called after transactions that may be foreign."""
        self._table = table
        self._noticed = noticed
        self._changes = RuleChanges()
        self._own: dict[int, range] = {}
        self._whole = 0
        self._waiting: list[RuleChange] = []

    def wrote(self, generations: range, *, whole: bool = False) -> None:
        """Record an own transaction: the numbers of rulesets, one of which it has made.

        `whole`: it has replaced all tables, so that earlier changes do not matter.
        """
        self._own |= dict.fromkeys(generations, generations)
        self._whole = generations[0] if whole and len(generations) == 1 else 0

    def take(self, data: bytes | None) -> None:
        """Receive messages of the kernel; None if it dropped some."""
        found = [each for each in self._changes.take(data) if self._is_foreign(each)]
        if found:
            self._waiting = [*self._waiting[-_WAITING_MAX:], *found]
            self._noticed()

    def any(self, generation: int = 0) -> bool:
        """Return True if another program has changed a table since the last call. Not while a write runs.

        `generation`: number of the current ruleset; 0 if it is unknown. If an own transaction that has replaced all
        tables made it, nothing has changed since. That also holds if the kernel has dropped events.
        """
        waiting, self._waiting = self._waiting, []
        if generation and generation == self._whole:
            return False
        found = [self._is_foreign(each) for each in waiting]  # Of all: each removes its own transaction.
        return any(found)

    def _is_foreign(self, change: RuleChange) -> bool:
        if not change.is_complete:
            self._own.clear()
            return True
        if self._table not in change.tables:
            self._own.pop(change.generation, None)
            return False
        # Of several rulesets, only the first that changes the table counts as the own one.
        own = self._own.get(change.generation)
        for generation in own or ():
            self._own.pop(generation, None)
        return own is None
