"""Index of Pods by node, shared by several loops."""

from collections.abc import Iterable
from typing import Any, Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.views import POD_VIEW, node_name_of
from sampan.informer.ref import Ref

NODE_INDEX: Final = "node"
"""Index of Pods by the name of their node."""


def index_pods_by_node(context: ControllerContext) -> None:
    """Add the index to the informer of Pods, unless it has it already."""
    indexer = context.informer(POD_VIEW).indexer
    if NODE_INDEX not in indexer.index_names:
        indexer.add_indexer(NODE_INDEX, _node_of)


def _node_of(ref: Ref[Any]) -> Iterable[str]:
    name = node_name_of(ref.raw) if b'"nodeName"' in ref.raw else ""
    return (name,) if name else ()
