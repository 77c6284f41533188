"""Which Nodes a Pod's node selector and node affinity mean.

Source: component-helpers scheduling/corev1/nodeaffinity/nodeaffinity.go (1.36).
"""

from collections.abc import Iterable, Mapping

from sampan.scheduler.constraints import Constraints
from sampan.scheduler.views import Labels, NodeRequirement, NodeTerm


def matches_required(constraints: Constraints, name: str, labels: Labels) -> bool:
    """Whether a Node has everything that the Pod must have of it."""
    if any(labels.get(key) != value for key, value in constraints.node_selector):
        return False
    required = constraints.node_affinity.required
    return required is None or any(matches_term(term, name, labels) for term in required.node_selector_terms)


def matches_term(term: NodeTerm, name: str, labels: Labels) -> bool:
    """Whether all conditions of a term hold; of an empty term none does."""
    if not term.match_expressions and not term.match_fields:
        return False
    return _all_match(term.match_expressions, labels) and _all_match(term.match_fields, {"metadata.name": name})


def named_nodes(constraints: Constraints) -> frozenset[str] | None:
    """The only Nodes that the Pod may have, where each term says their names (as those of DaemonSets do)."""
    required = constraints.node_affinity.required
    if required is None or not required.node_selector_terms:
        return None
    names: set[str] = set()
    for term in required.node_selector_terms:
        named = [each for each in term.match_fields if each.key == "metadata.name" and each.operator == "In"]
        if not named:
            return None
        names |= set(named[0].values).intersection(*(each.values for each in named[1:]))
    return frozenset(names)


def _all_match(requirements: Iterable[NodeRequirement], labels: Mapping[str, str]) -> bool:
    return all(_matches(requirement, labels) for requirement in requirements)


def _matches(requirement: NodeRequirement, labels: Mapping[str, str]) -> bool:
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return value is not None and _compares(requirement, value)
    return False


def _compares(requirement: NodeRequirement, value: str) -> bool:
    try:
        found, bound = int(value), int(requirement.values[0])
    except (ValueError, IndexError):
        return False
    return found > bound if requirement.operator == "Gt" else found < bound
