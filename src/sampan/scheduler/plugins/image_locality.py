"""ImageLocality: prefers Nodes that already have a Pod's images.

Source: plugins/imagelocality/image_locality.go (1.36).
"""

from collections.abc import Mapping
from typing import ClassVar, Final

import numpy as np

from sampan.scheduler.cache.arrays import Ints, Mask, Rows
from sampan.scheduler.cache.node_table import images_of
from sampan.scheduler.framework.cycle import Cycle
from sampan.scheduler.framework.plugin import MAX_NODE_SCORE, ClusterEvent, Hint

_MIB: Final = 1024 * 1024
MIN_BYTES: Final = 23 * _MIB
MAX_CONTAINER_BYTES: Final = 1000 * _MIB


class ImageLocality:
    """Scores Nodes by the images they have."""

    name: ClassVar[str] = "ImageLocality"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {}

    def score(self, cycle: Cycle, feasible: Mask) -> Ints | None:
        """Score by the size of present images.

        Images on few Nodes count less, so that not all Pods are assigned to those Nodes.
        """
        nodes, images = cycle.nodes, cycle.pod.constraints.images
        shares = tuple(nodes.image_nodes.get(image, 0) for image in images)
        if not any(shares):
            return None
        count = nodes.count
        most = MAX_CONTAINER_BYTES * len(images)

        def weigh(rows: Rows) -> Ints:
            sizes = np.array([self._size(images_of(nodes.nodes[row]), images, shares, count) for row in rows])
            clipped = np.clip(sizes.astype(np.int64), MIN_BYTES, most)
            return MAX_NODE_SCORE * (clipped - MIN_BYTES) // (most - MIN_BYTES)

        return cycle.node_column((self.name, images, shares, count), weigh)

    @staticmethod
    def _size(present: Mapping[str, int], images: tuple[str, ...], shares: tuple[int, ...], count: int) -> int:
        return sum(
            int(present[image] * (share / count))
            for image, share in zip(images, shares, strict=True)
            if image in present
        )
