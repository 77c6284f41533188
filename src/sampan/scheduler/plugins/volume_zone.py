"""VolumeZone: a volume with zone labels can only be used in its zone.

Source: plugins/volumezone/volume_zone.go (1.36).
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import numpy as np

from sampan.scheduler.cache.arrays import Ints
from sampan.scheduler.framework.cycle import UNRESOLVABLE, Cycle
from sampan.scheduler.framework.plugin import ClusterEvent, Hint, WhatIf, always
from sampan.scheduler.views import Labels
from sampan.scheduler.volumes.storage import Storage

_OLD: Final = {
    "topology.kubernetes.io/zone": "failure-domain.beta.kubernetes.io/zone",
    "topology.kubernetes.io/region": "failure-domain.beta.kubernetes.io/region",
}


class VolumeZone:
    """Filters Nodes by the zones of volumes."""

    name: ClassVar[str] = "VolumeZone"
    events: ClassVar[Mapping[ClusterEvent, Hint]] = {
        ClusterEvent.NODE_ADDED: always,
        ClusterEvent.NODE_LABELS: always,
        ClusterEvent.CLAIM_CHANGED: always,
        ClusterEvent.VOLUME_CHANGED: always,
        ClusterEvent.STORAGE_CHANGED: always,
    }

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def filter(self, cycle: Cycle) -> Ints | None:
        """Reject Nodes in other zones or regions."""
        desired: list[tuple[str, frozenset[str]]] = []
        if cycle.pod.constraints.volumes:
            for claim in self._storage.claims_of(cycle.pod, self.name):
                volume = self._storage.volume(claim.spec.volume_name)
                desired += _zones(volume.metadata.labels) if volume is not None else []
        if not desired:
            return None
        nodes = cycle.nodes
        codes = cycle.zeros()
        for row in np.flatnonzero(nodes.alive):
            labels = nodes.labels(int(row))
            if any(_value(labels, key) not in values for key, values in desired):
                codes[row] = 1 | UNRESOLVABLE
        return codes

    def reasons(self, cycle: Cycle, code: int) -> Sequence[str]:
        """Return the message."""
        return ("node(s) had no available volume zone",)

    def what_if(self, cycle: Cycle, what_if: WhatIf) -> int:
        """Return the unchanged code: other Pods do not matter."""
        codes = cycle.rejections.get(self.name)
        return 0 if codes is None else int(codes[what_if.row])


def _value(labels: Labels, key: str) -> str | None:
    return labels.get(key, labels.get(_OLD[key]))


def _zones(labels: Labels) -> list[tuple[str, frozenset[str]]]:
    """Return the zones and regions in a volume's labels. Several values are separated by two underscores."""
    labelled = ((key, _value(labels, key)) for key in _OLD)
    return [(key, frozenset(value.split("__"))) for key, value in labelled if value is not None]
