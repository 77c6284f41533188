"""Topology: computes where a new volume must or should be accessible, and the node affinity of its PersistentVolume.

A term is a set of labels, such as one zone. Terms are sorted tuples, so that they can be compared.

Source: external-provisioner pkg/controller/topology.go.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.kinds import core_v1, storage_v1
from sampan.resource import meta

Term = tuple[tuple[str, str], ...]

_FNV_OFFSET: Final = 0x811C9DC5
_FNV_PRIME: Final = 0x01000193
_MASK: Final = 0xFFFFFFFF


class TopologyUnknown(Exception):
    """The requirement cannot be computed now: a driver has not registered yet, or the node has no labels."""


@dataclass(frozen=True, slots=True)
class TopologyOptions:
    """Topology options, which the administrator sets for a driver."""

    strict: bool = False
    """Offer only the selected node's topology."""
    immediate: bool = True
    """If no node is selected, offer the topology of all nodes."""


def accessibility_requirements(
    driver: str,
    claim_name: str,
    allowed: Sequence[core_v1.TopologySelectorTerm],
    selected: str,
    nodes: Mapping[str, Mapping[str, str]],
    csi_nodes: Iterable[storage_v1.CSINode],
    options: TopologyOptions = TopologyOptions(),
) -> dict[str, Any] | None:
    """Return a TopologyRequirement, or None if the volume may be anywhere. Raises `TopologyUnknown`.

    `allowed`: `allowedTopologies` of the class. `selected`: name of the node that the scheduler selected. `nodes`:
    labels of all nodes.
    """
    chosen: Term = ()
    keys: Sequence[str] = ()
    if selected:
        keys = _keys_of_node(driver, selected, csi_nodes)
        chosen = _selected_term(selected, keys, nodes)
        if options.strict:
            return _strict(chosen, selected, allowed)
    if allowed:
        terms = _allowed_terms(allowed)
    elif not selected and not options.immediate:
        return None
    else:
        terms = _existing_terms(keys or _keys_of_any(driver, csi_nodes), nodes)
        if not terms:
            raise TopologyUnknown("error generating accessibility requirements: no available topology found")
    if not terms:
        return None
    terms = sorted(set(terms))
    start = _position(terms, chosen, selected) if selected else _spread(claim_name) % len(terms)
    return {"requisite": _messages(terms), "preferred": _messages([*terms[start:], *terms[:start]])}


def node_affinity(topologies: Iterable[Mapping[str, str]]) -> core_v1.VolumeNodeAffinity | None:
    """Return the `nodeAffinity` of a volume that is accessible in these topologies; None if it is accessible
    everywhere.
    """
    terms: list[core_v1.NodeSelectorTerm] = [
        {"matchExpressions": [{"key": key, "operator": "In", "values": [value]} for key, value in sorted(each.items())]}
        for each in topologies
        if each
    ]
    return {"required": {"nodeSelectorTerms": terms}} if terms else None


def _strict(chosen: Term, selected: str, allowed: Sequence[core_v1.TopologySelectorTerm]) -> dict[str, Any]:
    terms = _allowed_terms(allowed)
    if terms and not any(set(term) <= set(chosen) for term in terms):
        text = f"selected node '{selected}' topology '{dict(chosen)}' is not in allowed topologies"
        raise TopologyUnknown(text)
    return {"requisite": _messages([chosen]), "preferred": _messages([chosen])}


def _keys_of_node(driver: str, node: str, csi_nodes: Iterable[storage_v1.CSINode]) -> Sequence[str]:
    found = next((each for each in csi_nodes if meta(each).name == node), None)
    keys = _keys(driver, found) if found is not None else ()
    if not keys:
        raise TopologyUnknown(f"error generating accessibility requirements: no topology key found on CSINode {node}")
    return keys


def _keys_of_any(driver: str, csi_nodes: Iterable[storage_v1.CSINode]) -> Sequence[str]:
    return next((keys for keys in (_keys(driver, each) for each in csi_nodes) if keys), ())


def _keys(driver: str, csi_node: storage_v1.CSINode) -> Sequence[str]:
    drivers = csi_node["spec"].get("drivers") or ()
    return next((each.get("topologyKeys") or () for each in drivers if each["name"] == driver), ())


def _selected_term(node: str, keys: Iterable[str], nodes: Mapping[str, Mapping[str, str]]) -> Term:
    labels = nodes.get(node, {})
    missing = [key for key in keys if key not in labels]
    if missing:
        raise TopologyUnknown(f"topology labels from selected node {node} lack the topology keys {missing}")
    return tuple(sorted((key, labels[key]) for key in keys))


def _existing_terms(keys: Sequence[str], nodes: Mapping[str, Mapping[str, str]]) -> list[Term]:
    if not keys:
        return []
    return [
        tuple(sorted((key, labels[key]) for key in keys))
        for labels in nodes.values()
        if all(key in labels for key in keys)
    ]


def _allowed_terms(allowed: Iterable[core_v1.TopologySelectorTerm]) -> list[Term]:
    """Return one term for each combination of values that the class allows."""
    found: list[Term] = []
    for each in allowed:
        expressions = each.get("matchLabelExpressions") or ()
        choices = [[(one["key"], value) for value in one.get("values") or ()] for one in expressions]
        found += [tuple(sorted(term)) for term in itertools.product(*choices) if term]
    return found


def _position(terms: Sequence[Term], chosen: Term, selected: str) -> int:
    for position, term in enumerate(terms):
        if set(term) <= set(chosen):
            return position
    raise TopologyUnknown(f'topology {dict(chosen)} from selected node "{selected}" is not in requisite')


def _spread(claim_name: str) -> int:
    """Return a number for a claim. For consecutive Pods of a StatefulSet, the numbers differ by one."""
    base, dash, last = claim_name.rpartition("-")
    ordinal = int(last) if dash and last.isascii() and last.isdigit() else 0
    # In `www-web-0` the claims of a StatefulSet with several templates get the same topology.
    hashed = base.rpartition("-")[2] if dash and last.isascii() and last.isdigit() else claim_name
    number = _FNV_OFFSET
    for byte in hashed.encode():
        number = (number * _FNV_PRIME & _MASK) ^ byte
    return number + ordinal


def _messages(terms: Iterable[Term]) -> list[dict[str, Any]]:
    return [{"segments": dict(term)} for term in terms]
