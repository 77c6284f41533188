"""`LocalFilter`: base of filters that only depend on the Pod's constraints and one Node."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

from sampan.scheduler.cache.arrays import Ints, Rows
from sampan.scheduler.cache.node_table import NodeTable
from sampan.scheduler.constraints import Constraints
from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.framework.plugin import WhatIf


class LocalFilter:
    """Base class. Results are cached by key and reused for the next Pod with the same key."""

    name: ClassVar[str]
    reason: ClassVar[str]

    def key(self, constraints: Constraints) -> Hashable:
        """Return the parts of the Pod that the filter uses; None if the Pod passes on every Node."""
        raise NotImplementedError

    def codes(self, constraints: Constraints, nodes: NodeTable, rows: Rows) -> Ints:
        """Return the codes of some rows."""
        raise NotImplementedError

    def filter(self, cycle: Cycle) -> Ints | None:
        """Return the codes of all rows."""
        constraints, nodes = cycle.pod.constraints, cycle.nodes
        key = self.key(constraints)
        if key is None:
            return None
        return cycle.node_column((self.name, key), lambda rows: self.codes(constraints, nodes, rows))

    def reasons(self, cycle: Cycle, code: int) -> Sequence[str]:
        """Return the message for a rejected Node."""
        return (self.reason,)

    def what_if(self, cycle: Cycle, what_if: WhatIf) -> int:
        """Return the unchanged code: other Pods do not matter."""
        codes = cycle.rejections.get(self.name)
        return 0 if codes is None else int(codes[what_if.row])
