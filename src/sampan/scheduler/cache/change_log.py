"""`ChangeLog`: bounded log of changed rows."""

from typing import Final

import numpy as np

from sampan.scheduler.cache.arrays import Rows

_LENGTH_MAX: Final = 8192


class ChangeLog:
    """Rows in the order of their changes.

    Each reader stores the position up to which it has read. A reader that is too far behind has to process all rows.
    """

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._begin = 0

    @property
    def position(self) -> int:
        """Position after the newest change."""
        return self._begin + len(self._rows)

    def add(self, row: int) -> None:
        """Record a change of a row."""
        rows = self._rows
        rows.append(row)
        if len(rows) > _LENGTH_MAX:
            forgotten = len(rows) // 2
            del rows[:forgotten]
            self._begin += forgotten

    def only_change(self, position: int) -> int | None:
        """Return the row if exactly one change follows the position, else None."""
        return self._rows[-1] if position == self.position - 1 else None

    def since(self, position: int) -> Rows | None:
        """Return the rows changed since the position; None if the log no longer reaches back that far."""
        if position < self._begin:
            return None
        changed = self._rows[position - self._begin :]
        return np.array(changed if len(changed) == 1 else sorted(set(changed)), dtype=np.intp)
