"""Tree of the objects below an object, found by the `ownerReferences` of all listed objects."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from sampan.resource import Object


@dataclass(frozen=True, slots=True)
class OwnedObject:
    """Object reduced to the data that the tree shows."""

    uid: str
    kind: str
    """Kind with its group: `ReplicaSet.apps`."""
    name: str
    namespace: str
    created: str | None
    owners: tuple[str, ...] = ()
    """Uids of its owners."""
    conditions: tuple[Object, ...] = ()
    deleting: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """Line of a tree. `last` has a flag for each level: True if no further line follows at that level."""

    owned: OwnedObject
    last: tuple[bool, ...] = ()
    cycle: bool = False
    """True if the object is its own ancestor. The objects that it owns are not shown again."""
    again: bool = False
    """True if the objects that it owns were already shown below another of its owners."""
    owner: str = ""
    """Uid of the owner on the line above."""


@dataclass(slots=True)
class Ownership:
    """Objects by their owners. An object that is added twice (events have two groups) counts once."""

    _children: dict[str, list[OwnedObject]] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def add(self, objects: Iterable[OwnedObject]) -> None:
        """Add objects. Those without owners are ignored."""
        for owned in objects:
            if owned.owners and owned.uid not in self._known:
                self._known.add(owned.uid)
                for owner in dict.fromkeys(owned.owners):
                    self._children.setdefault(owner, []).append(owned)

    def below(self, root: OwnedObject) -> Iterator[Branch]:
        """Yield the tree of an object, which comes first. Siblings are sorted by kind and name."""
        # An explicit stack instead of recursion: chains of owners may be thousands deep. Children are shown only once,
        # as objects may have several owners.
        waiting: list[tuple[Branch, tuple[str, ...]]] = [(Branch(root), (root.uid,))]
        shown = set[str]()
        while waiting:
            branch, ancestors = waiting.pop()
            children = sorted(self._children.get(branch.owned.uid, ()), key=_order)
            if branch.owned.uid in shown and children and not branch.cycle:
                branch = replace(branch, again=True)
            yield branch
            if branch.cycle or branch.again:
                continue
            shown.add(branch.owned.uid)
            for index, child in reversed(list(enumerate(children))):
                last = (*branch.last, index == len(children) - 1)
                below = Branch(child, last, cycle=child.uid in ancestors, owner=branch.owned.uid)
                waiting.append((below, (*ancestors, child.uid)))


def owned_of(obj: Object) -> OwnedObject:
    """Return the data of an object that the tree needs."""
    metadata = obj.get("metadata") or {}
    group = obj.get("apiVersion", "").rpartition("/")[0]
    kind = obj.get("kind", "")
    status = obj.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    return OwnedObject(
        uid=metadata.get("uid", ""),
        kind=f"{kind}.{group}" if group else kind,
        name=metadata.get("name", ""),
        namespace=metadata.get("namespace", ""),
        created=metadata.get("creationTimestamp"),
        owners=tuple(reference.get("uid", "") for reference in metadata.get("ownerReferences") or ()),
        conditions=tuple(each for each in conditions or () if isinstance(each, dict)),
        deleting=bool(metadata.get("deletionTimestamp")),
    )


def _order(owned: OwnedObject) -> tuple[str, str, str]:
    return owned.kind, owned.namespace, owned.name
