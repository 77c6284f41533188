"""What if those that name an owner do not agree what it is: other kinds, versions, names or namespaces for one uid.

Source: pkg/controller/garbagecollector/graph_builder.go `partitionDependents`, `getAlternateOwnerIdentity` (1.36).
"""

from collections.abc import Iterable, Iterator

from sampan.controllers.garbage_collector.identity import Identity
from sampan.controllers.garbage_collector.node import Node


def partition(dependents: Iterable[Node], owner: Identity) -> tuple[list[Node], list[Node]]:
    """The dependents that mean this very owner, and those that say anything else of it; one may do both."""
    matching: list[Node] = []
    others: list[Node] = []
    for dependent in dependents:
        if owner.namespace and dependent.identity.namespace != owner.namespace:
            others.append(dependent)
            continue
        said = [owner.is_named_by(reference) for reference in dependent.owners if reference.uid == owner.uid]
        if any(said):
            matching.append(dependent)
        if not all(said):
            others.append(dependent)
    return matching, others


def alternative_identity(dependents: Iterable[Node], absent: Identity) -> Identity | None:
    """What else an owner may be that is not what `absent` says: the next in order, so that all get their turn."""
    found = sorted(set(_identities(dependents, absent)) - {absent}, key=_order)
    return next((identity for identity in found if _order(identity) > _order(absent)), found[0] if found else None)


def _identities(dependents: Iterable[Node], absent: Identity) -> Iterator[Identity]:
    of_cluster = not absent.namespace
    for dependent in dependents:
        for reference in dependent.owners:
            if reference.uid != absent.uid:
                continue
            # A kind that has no namespaces has none for any dependent.
            same_kind = (reference.api_version, reference.kind) == (absent.api_version, absent.kind)
            namespace = "" if of_cluster and same_kind else dependent.identity.namespace
            yield Identity(*reference[:4], namespace)


def _order(identity: Identity) -> tuple[str, ...]:
    return identity.kind, identity.api_version, identity.namespace, identity.name, identity.uid
