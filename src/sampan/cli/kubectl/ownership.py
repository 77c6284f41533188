"""Who owns whom: the tree below an object, found by the `ownerReferences` of everything that can be listed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from sampan.resource import Object


@dataclass(frozen=True, slots=True)
class Owned:
    """What the tree shows of an object; the rest of it is not kept."""

    uid: str
    kind: str
    """With its group: `ReplicaSet.apps`."""
    name: str
    namespace: str
    created: str | None
    owners: tuple[str, ...] = ()
    """The uids of its owners."""
    conditions: tuple[Object, ...] = ()
    deleting: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of a tree. `last`: for each level down to this one, whether nothing follows there."""

    owned: Owned
    last: tuple[bool, ...] = ()
    cycle: bool = False
    """Whether it is its own ancestor; what it owns is not shown again."""
    again: bool = False
    """Whether what it owns has been shown already, below another of its owners."""
    owner: str = ""
    """The uid of the owner that it is shown below."""


@dataclass(slots=True)
class Ownership:
    """Objects by their owners. An object that is told twice (events have two groups) counts once."""

    _children: dict[str, list[Owned]] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def add(self, objects: Iterable[Owned]) -> None:
        """Take up objects; those without owners are forgotten."""
        for owned in objects:
            if owned.owners and owned.uid not in self._known:
                self._known.add(owned.uid)
                for owner in dict.fromkeys(owned.owners):
                    self._children.setdefault(owner, []).append(owned)

    def below(self, root: Owned) -> Iterator[Branch]:
        """The tree of an object, itself first; siblings by kind and name."""
        # Not by recursion, and each object's own only once: owners may be thousands deep, and each may have several.
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


def owned_of(obj: Object) -> Owned:
    """What the tree needs of an object."""
    metadata = obj.get("metadata") or {}
    group = obj.get("apiVersion", "").rpartition("/")[0]
    kind = obj.get("kind", "")
    status = obj.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    return Owned(
        uid=metadata.get("uid", ""),
        kind=f"{kind}.{group}" if group else kind,
        name=metadata.get("name", ""),
        namespace=metadata.get("namespace", ""),
        created=metadata.get("creationTimestamp"),
        owners=tuple(reference.get("uid", "") for reference in metadata.get("ownerReferences") or ()),
        conditions=tuple(each for each in conditions or () if isinstance(each, dict)),
        deleting=bool(metadata.get("deletionTimestamp")),
    )


def _order(owned: Owned) -> tuple[str, str, str]:
    return owned.kind, owned.namespace, owned.name
