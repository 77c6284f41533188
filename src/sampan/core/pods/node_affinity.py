"""Node selectors: terms of conditions on the labels and the names of Nodes.

Source: component-helpers scheduling/corev1/nodeaffinity/nodeaffinity.go (1.36).
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from sampan.core.numbers.integers import parse_integer

NAME_FIELD: Final = "metadata.name"
"""Only field that conditions may use."""


class NodeRequirement(msgspec.Struct, frozen=True, gc=False):
    """Condition on a label or a field of Nodes."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeTerm(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """Conditions that must all match; a term without conditions matches no Node."""

    match_expressions: tuple[NodeRequirement, ...] = ()
    match_fields: tuple[NodeRequirement, ...] = ()


class NodeSelector(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """Terms of which at least one must match."""

    node_selector_terms: tuple[NodeTerm, ...] = ()


class NodeAffinity(msgspec.Struct, frozen=True, gc=False):
    """Nodes that a Pod requires; preferences are not decoded."""

    required: NodeSelector | None = msgspec.field(name="requiredDuringSchedulingIgnoredDuringExecution", default=None)


class Affinity(msgspec.Struct, rename="camel", frozen=True, gc=False):
    """Node affinity of a Pod; other affinities are not decoded."""

    node_affinity: NodeAffinity | None = None

    @property
    def required(self) -> NodeSelector | None:
        """Return the selector of the Nodes that the Pod requires."""
        return self.node_affinity.required if self.node_affinity is not None else None


def selects(selector: NodeSelector, name: str, labels: Mapping[str, str]) -> bool:
    """Report whether a selector matches a Node with this name and these labels."""
    return any(term_selects(term, name, labels) for term in selector.node_selector_terms)


def named_node(selector: NodeSelector) -> str | None:
    """Return the Node that the first condition on the name selects (Pods of DaemonSets have one); None if several."""
    for term in selector.node_selector_terms:
        for requirement in term.match_fields:
            if requirement.key == NAME_FIELD and requirement.operator == "In":
                return requirement.values[0] if len(requirement.values) == 1 else None
    return None


def term_selects(term: NodeTerm, name: str, labels: Mapping[str, str]) -> bool:
    """Report whether all conditions of a term match a Node; an empty term matches none."""
    if not term.match_expressions and not term.match_fields:
        return False
    fields = {NAME_FIELD: name}
    return all(_holds(requirement, labels) for requirement in term.match_expressions) and all(
        _holds(requirement, fields) for requirement in term.match_fields
    )


def _holds(requirement: NodeRequirement, labels: Mapping[str, str]) -> bool:
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
        found, bound = parse_integer(value), parse_integer(requirement.values[0])
    except (ValueError, IndexError):
        return False
    return found > bound if requirement.operator == "Gt" else found < bound
