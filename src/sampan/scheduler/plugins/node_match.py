"""Matching of Nodes with a Pod's node selector and node affinity.

Source: component-helpers scheduling/corev1/nodeaffinity/nodeaffinity.go (1.36).
"""

from sampan.core.pods.node_affinity import NAME_FIELD, selects
from sampan.scheduler.constraints import Constraints
from sampan.scheduler.views import Labels


def matches_required(constraints: Constraints, name: str, labels: Labels) -> bool:
    """Return True if a Node matches the node selector and the required terms."""
    if any(labels.get(key) != value for key, value in constraints.node_selector):
        return False
    required = constraints.node_affinity.required
    return required is None or selects(required, name, labels)


def named_nodes(constraints: Constraints) -> frozenset[str] | None:
    """Return the names of the only possible Nodes, if each term names Nodes, as in Pods of a DaemonSet; else None."""
    required = constraints.node_affinity.required
    if required is None or not required.node_selector_terms:
        return None
    names: set[str] = set()
    for term in required.node_selector_terms:
        named = [each for each in term.match_fields if each.key == NAME_FIELD and each.operator == "In"]
        if not named:
            return None
        names |= set(named[0].values).intersection(*(each.values for each in named[1:]))
    return frozenset(names)
