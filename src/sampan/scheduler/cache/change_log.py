"""`ChangeLog`: which rows have changed since somebody looked last."""

from typing import Final

import numpy as np

from sampan.scheduler.cache.arrays import Rows

_LENGTH_MAX: Final = 8192


class ChangeLog:
    """Rows in the order of their changes. Readers remember a position; who is too far behind looks at all rows."""

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._begin = 0

    @property
    def position(self) -> int:
        """Behind the newest change."""
        return self._begin + len(self._rows)

    def add(self, row: int) -> None:
        """A row has changed."""
        rows = self._rows
        rows.append(row)
        if len(rows) > _LENGTH_MAX:
            forgotten = len(rows) // 2
            del rows[:forgotten]
            self._begin += forgotten

    def only_change(self, position: int) -> int | None:
        """The row, when there was a single change since then."""
        return self._rows[-1] if position == self.position - 1 else None

    def since(self, position: int) -> Rows | None:
        """The rows that have changed since then; None when that is forgotten."""
        if position < self._begin:
            return None
        changed = self._rows[position - self._begin :]
        return np.array(changed if len(changed) == 1 else sorted(set(changed)), dtype=np.intp)
