"""`LocalFilter`: what filters have in common that look at nothing but the Pod's constraints and one Node."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

from sampan.scheduler.cache.arrays import Ints, Rows
from sampan.scheduler.cache.node_table import NodeTable
from sampan.scheduler.constraints import Constraints
from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.framework.plugin import WhatIf


class LocalFilter:
    """What it says is kept by key, for the next Pod that asks the same."""

    name: ClassVar[str]
    reason: ClassVar[str]

    def key(self, constraints: Constraints) -> Hashable:
        """What in the Pod decides; None when it passes everywhere."""
        raise NotImplementedError

    def codes(self, constraints: Constraints, nodes: NodeTable, rows: Rows) -> Ints:
        """What it says of some rows."""
        raise NotImplementedError

    def filter(self, cycle: Cycle) -> Ints | None:
        """What it says of all rows."""
        constraints, nodes = cycle.pod.constraints, cycle.nodes
        key = self.key(constraints)
        if key is None:
            return None
        return cycle.node_column((self.name, key), lambda rows: self.codes(constraints, nodes, rows))

    def reasons(self, cycle: Cycle, code: int) -> Sequence[str]:
        """The text."""
        return (self.reason,)

    def what_if(self, cycle: Cycle, what_if: WhatIf) -> int:
        """Other Pods do not matter."""
        codes = cycle.rejections.get(self.name)
        return 0 if codes is None else int(codes[what_if.row])
