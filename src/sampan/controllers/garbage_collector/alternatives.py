"""Conflicting owner references: references to one UID with different kinds, versions, names or namespaces.

Source: pkg/controller/garbagecollector/graph_builder.go `partitionDependents`, `getAlternateOwnerIdentity` (1.36).
"""

from collections.abc import Iterable, Iterator

from sampan.controllers.garbage_collector.identity import ObjectIdentity
from sampan.controllers.garbage_collector.node import GraphNode


def partition(dependents: Iterable[GraphNode], owner: ObjectIdentity) -> tuple[list[GraphNode], list[GraphNode]]:
    """Split dependents into those whose references match the owner's identity, and those that conflict with it.

    A dependent with several references to the owner's UID may be in both lists.
    """
    matching: list[GraphNode] = []
    others: list[GraphNode] = []
    for dependent in dependents:
        if owner.namespace and dependent.identity.namespace != owner.namespace:
            others.append(dependent)
            continue
        matches = [owner.is_named_by(reference) for reference in dependent.owners if reference.uid == owner.uid]
        if any(matches):
            matching.append(dependent)
        if not all(matches):
            others.append(dependent)
    return matching, others


def alternative_identity(dependents: Iterable[GraphNode], absent: ObjectIdentity) -> ObjectIdentity | None:
    """Return another identity that dependents give for the absent owner's UID, or None.

    It is the next one in sort order, so repeated calls try every candidate.
    """
    found = sorted(set(_identities(dependents, absent)) - {absent}, key=_order)
    return next((identity for identity in found if _order(identity) > _order(absent)), found[0] if found else None)


def _identities(dependents: Iterable[GraphNode], absent: ObjectIdentity) -> Iterator[ObjectIdentity]:
    of_cluster = not absent.namespace
    for dependent in dependents:
        for reference in dependent.owners:
            if reference.uid != absent.uid:
                continue
            # A kind that is cluster-scoped for one dependent is so for all of them.
            same_kind = (reference.api_version, reference.kind) == (absent.api_version, absent.kind)
            namespace = "" if of_cluster and same_kind else dependent.identity.namespace
            yield ObjectIdentity(*reference[:4], namespace)


def _order(identity: ObjectIdentity) -> tuple[str, ...]:
    return identity.kind, identity.api_version, identity.namespace, identity.name, identity.uid
