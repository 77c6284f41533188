"""Segments: the parts of a cluster for which a driver reports its capacity.

A segment is a set of labels, such as one zone or one node. The empty segment is the whole cluster.

Source: external-provisioner pkg/capacity/topology/nodes.go.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from sampan.csi.sidecar.provisioning.topology import Term
from sampan.kinds import core_v1, storage_v1
from sampan.resource import meta
from sampan.wire import json

NAME_PREFIX: Final = "csisc-"
_HASH_LENGTH: Final = 32


class CapacityItem(NamedTuple):
    """Class and segment of one CSIStorageCapacity."""

    class_name: str
    segment: Term

    def object_name(self, driver: str) -> str:
        """Return the name of the CSIStorageCapacity. The name never changes, so the object exists only once."""
        key = json.encode([driver, self.class_name, self.segment])
        return NAME_PREFIX + hashlib.sha256(key).hexdigest()[:_HASH_LENGTH]


def segments(
    driver: str, csi_nodes: Iterable[storage_v1.CSINode], labels: Mapping[str, Mapping[str, str]]
) -> set[Term]:
    """Return the segments of the nodes where a driver runs.

    `labels`: labels of all nodes. A node without a label for a topology key of the driver is skipped.
    """
    found: set[Term] = set()
    for each in csi_nodes:
        keys = _keys(driver, each)
        node = labels.get(meta(each).name)
        if keys is not None and node is not None and all(key in node for key in keys):
            found.add(tuple(sorted((key, node[key]) for key in keys)))
    return found


def segments_of_volume(volume: core_v1.PersistentVolume) -> set[Term]:
    """Return the segments where a volume is accessible; empty if it is accessible everywhere."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required")
    terms = (required.get("nodeSelectorTerms") if required else None) or ()
    return {
        tuple(sorted((one["key"], one["values"][0]) for one in term["matchExpressions"]))
        for term in terms
        if term.get("matchExpressions") and all(len(one.get("values") or ()) == 1 for one in term["matchExpressions"])
    }


def _keys(driver: str, csi_node: storage_v1.CSINode) -> Iterable[str] | None:
    """Return the topology keys of a driver on a node; None if it does not run there."""
    drivers = csi_node["spec"].get("drivers") or ()
    return next((each.get("topologyKeys") or () for each in drivers if each["name"] == driver), None)
