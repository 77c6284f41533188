"""`Columns`: what a plugin says of every Node, kept for the next Pod that asks the same.

Only the rows that have changed meanwhile are worked out again, so that the next of many like Pods costs the one row
that the last one was put on.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

import numpy as np

from sampan.scheduler.cache.arrays import Ints, Rows
from sampan.scheduler.cache.change_log import ChangeLog

COLUMNS_MAX: Final = 256
"""Columns that are kept; those that were not asked for longest go first."""

Compute = Callable[[Rows], Ints]
ComputeOne = Callable[[int], int]


class _Column:
    __slots__ = ("position", "values")

    def __init__(self, values: Ints, position: int) -> None:
        self.values = values
        self.position = position


class Columns:
    """Values by row, for each key. What is given must not be changed, and is good until the next change of a row."""

    def __init__(self) -> None:
        self._columns: OrderedDict[Hashable, _Column] = OrderedDict()

    def get(self, key: Hashable, log: ChangeLog, compute: Compute, *, size: int, one: ComputeOne | None = None) -> Ints:
        """The column of a key. `compute` gives the values of some rows; `log` tells which of them change them.

        `one` gives the same for a single row, where arrays of one number would cost more than they spare.
        """
        column = self._columns.get(key)
        position = log.position
        if column is not None and len(column.values) == size:
            if column.position != position:
                row = None if one is None else log.only_change(column.position)
                if row is not None and one is not None:
                    column.values[row] = one(row)
                else:
                    rows = log.since(column.position)
                    rows = np.arange(size) if rows is None else rows
                    column.values[rows] = compute(rows)
                column.position = position
            self._columns.move_to_end(key)
            return column.values
        values = compute(np.arange(size))
        self._columns[key] = _Column(values, position)
        self._columns.move_to_end(key)
        if len(self._columns) > COLUMNS_MAX:
            self._columns.popitem(last=False)
        return values

    def clear(self) -> None:
        """Forget all."""
        self._columns.clear()
