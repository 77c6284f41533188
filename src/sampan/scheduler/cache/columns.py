"""`Columns`: cache of a plugin's values for all Nodes, reused for later Pods with the same key.

Only rows that have changed since then are computed again. For many similar Pods, each Pod costs one row: the Node of
the previous Pod.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

import numpy as np

from sampan.scheduler.cache.arrays import Ints, Rows
from sampan.scheduler.cache.change_log import ChangeLog

COLUMNS_MAX: Final = 256
"""Highest number of cached columns; the least recently used ones are dropped first."""

Compute = Callable[[Rows], Ints]
ComputeOne = Callable[[int], int]


class _Column:
    __slots__ = ("position", "values")

    def __init__(self, values: Ints, position: int) -> None:
        self.values = values
        self.position = position


class Columns:
    """Values by row for each key. Returned arrays are read-only, and valid until the next change of a row."""

    def __init__(self) -> None:
        self._columns: OrderedDict[Hashable, _Column] = OrderedDict()

    def get(self, key: Hashable, log: ChangeLog, compute: Compute, *, size: int, one: ComputeOne | None = None) -> Ints:
        """Return the column of a key. `compute` returns the values of some rows; `log` records changes of rows.

        `one` computes a single row. It is faster than `compute` on an array with one element.
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
        # The key is new, or the table has grown since.
        values = compute(np.arange(size))
        self._columns[key] = _Column(values, position)
        self._columns.move_to_end(key)
        if len(self._columns) > COLUMNS_MAX:
            self._columns.popitem(last=False)
        return values

    def clear(self) -> None:
        """Drop all columns."""
        self._columns.clear()
