"""Owner references: the owners of an object, for the garbage collector and for `Builder.owns`.

An owner is identified by group, kind and name. A reference to an earlier object of the same name is replaced.

Source: controller-runtime pkg/controller/controllerutil/controllerutil.go (0.24).
"""

from typing import Any

from sampan.core.gvk import GroupVersion
from sampan.operator.object_kind import object_kind
from sampan.resource import OwnerReference, meta


class AlreadyOwned(ValueError):
    """The object has another controller; `owner` is the reference to it."""

    def __init__(self, message: str, owner: OwnerReference) -> None:
        super().__init__(message)
        self.owner = owner


class DisallowedOwner(ValueError):
    """The owner cannot own this object: it is in another namespace, or was not read from the server."""


def owner_reference(owner: Any, *, controller: bool = False, block_owner_deletion: bool = False) -> OwnerReference:
    """Return the reference to an owner that was read from the server.

    Raises `DisallowedOwner` if the owner has no uid: the garbage collector would treat its objects as orphans.
    """
    api_version, kind = object_kind(owner)
    metadata = meta(owner)
    if not metadata.uid:
        raise DisallowedOwner(f"{kind} {metadata.name!r} has no uid: an owner must be read from the server first")
    return OwnerReference(api_version, kind, metadata.name, metadata.uid, controller, block_owner_deletion)


def set_controller_reference(owner: Any, controlled: Any, *, block_owner_deletion: bool = True) -> None:
    """Make `owner` the one controller of an object, which is changed in place.

    `block_owner_deletion`: a foreground deletion of the owner waits for the object's deletion. Raises `AlreadyOwned`,
    `DisallowedOwner`.
    """
    reference = owner_reference(owner, controller=True, block_owner_deletion=block_owner_deletion)
    _check_namespaces(owner, controlled)
    existing = controller_of(controlled)
    if existing is not None and not _is_same_owner(existing, reference):
        name = f"{meta(controlled).namespace}/{meta(controlled).name}".lstrip("/")
        raise AlreadyOwned(f"{name} is already owned by another {existing.kind} controller {existing.name}", existing)
    _put(controlled, reference)


def set_owner_reference(owner: Any, owned: Any, *, block_owner_deletion: bool = False) -> None:
    """Make `owner` one of the owners of an object, which is changed in place. Raises `DisallowedOwner`."""
    reference = owner_reference(owner, block_owner_deletion=block_owner_deletion)
    _check_namespaces(owner, owned)
    _put(owned, reference)


def remove_owner_reference(owner: Any, owned: Any) -> bool:
    """Remove `owner` from the owners of an object. Return False if it was not one."""
    api_version, kind = object_kind(owner)
    gone = OwnerReference(api_version, kind, meta(owner).name)
    before = meta(owned).owner_references
    after = [reference for reference in before if not _is_same_owner(reference, gone)]
    if len(after) == len(before):
        return False
    meta(owned).owner_references = after
    return True


def has_owner_reference(owner: Any, owned: Any) -> bool:
    """Return True if `owner`, or an earlier object of the same kind and name, owns the object."""
    api_version, kind = object_kind(owner)
    desired = OwnerReference(api_version, kind, meta(owner).name)
    return any(_is_same_owner(reference, desired) for reference in meta(owned).owner_references)


def controller_of(obj: Any) -> OwnerReference | None:
    """Return the reference to the controller of an object, if it has one."""
    return next((reference for reference in meta(obj).owner_references if reference.controller), None)


def is_controlled_by(obj: Any, owner: Any) -> bool:
    """Return True if exactly this owner (by uid) controls the object."""
    reference = controller_of(obj)
    return reference is not None and reference.uid == meta(owner).uid


def _check_namespaces(owner: Any, owned: Any) -> None:
    """Check the namespaces: a namespaced owner owns objects of its namespace, a cluster-scoped one owns any."""
    owner_namespace, namespace = meta(owner).namespace, meta(owned).namespace
    if not owner_namespace or owner_namespace == namespace:
        return
    if not namespace:
        kind = owned.get("kind", "object") if isinstance(owned, dict) else type(owned).__name__
        raise DisallowedOwner(
            f"{kind} {meta(owned).name!r} has no metadata.namespace, its owner is in namespace {owner_namespace!r}: "
            "set the namespace before the owner, also where the client would fill it in "
            "(a cluster-scoped object cannot have this owner)"
        )
    raise DisallowedOwner(
        "cross-namespace owner references are disallowed, "
        f"owner's namespace {owner_namespace}, obj's namespace {namespace}"
    )


def _is_same_owner(one: OwnerReference, other: OwnerReference) -> bool:
    """Compare two references without the version, because the same object is served in several versions."""
    if (one.kind, one.name) != (other.kind, other.name):
        return False
    return GroupVersion.parse(one.api_version).group == GroupVersion.parse(other.api_version).group


def _put(obj: Any, reference: OwnerReference) -> None:
    references = meta(obj).owner_references
    for position, existing in enumerate(references):
        if _is_same_owner(existing, reference):
            references[position] = reference
            break
    else:
        references.append(reference)
    meta(obj).owner_references = references
