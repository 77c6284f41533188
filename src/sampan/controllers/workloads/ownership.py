"""Ownership of objects by controllers: find owned objects, adopt matching orphans, release objects that do not match.

Source: kube-controller-manager pkg/controller/controller_ref_manager.go, controller_utils.go (1.36).
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from sampan.client import Conflict, Invalid, NotFound, StrategicMergePatch
from sampan.component_base.context import ControllerContext
from sampan.core.gvk import GroupVersion
from sampan.core.label_selectors import Selector
from sampan.informer.ref import Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.handlers import MapFunction
from sampan.operator.owners.references import owner_reference
from sampan.operator.request import Request, RetryLater
from sampan.resource import Object, ObjectType, OwnerReference, ResourceInfo, meta

T = TypeVar("T")

CONTROLLER_INDEX: Final = "controller"
"""Index of informers by the UID of the controlling owner, or by `orphan_key(namespace)` for objects without one."""


def orphan_key(namespace: str) -> str:
    """Return the index key of the objects in a namespace that have no controller."""
    return f"orphan/{namespace}"


def index_by_controller(ref: Ref[Any]) -> Iterable[str]:
    """Index function of `CONTROLLER_INDEX`."""
    if b'"ownerReferences"' in ref.raw:
        for reference in ref.owner_references:
            if reference.controller:
                return (reference.uid,)
    return (orphan_key(ref.namespace),)


def controller_of(obj: Any) -> OwnerReference | None:
    """Return the reference to the controlling owner, or None."""
    return next((reference for reference in meta(obj).owner_references if reference.controller), None)


def has_other_controller(ref: Ref[Any], kind: str) -> bool:
    """Return True if an object certainly has a controller of another kind. False means that this is unknown.

    The function searches the raw bytes without decoding them. If they contain the kind's name anywhere, it returns
    False.
    """
    return b'"controller":true' in ref.raw and f'"{kind}"'.encode() not in ref.raw


def owners_of_pods(
    owner: ResourceInfo, owners: SharedInformer[T], selector: Callable[[T], Selector]
) -> MapFunction[Any]:
    """Return a function that maps a Pod to its controlling owner.

    Only controllers of kind `owner` count. An orphan is mapped to all owners that could adopt it.
    """

    def requests(ref: Ref[Any]) -> Iterable[Request]:
        if has_other_controller(ref, owner.kind):
            return ()
        controller = next((reference for reference in ref.owner_references if reference.controller), None)
        if controller is not None:
            group = GroupVersion.parse(controller.api_version).group
            mine = (group, controller.kind) == (owner.gvr.group, owner.kind)
            return [Request(ref.namespace, controller.name)] if mine else ()
        candidates = owners.lister().namespaced(ref.namespace).list() if ref.labels else ()
        return [Request(ref.namespace, meta(each).name) for each in candidates if selector(each).matches(ref.labels)]

    return requests


class OwnerGone(RetryLater):
    """The owner no longer exists or is being deleted, so it must not adopt objects."""


class Owned(Generic[T]):
    """Objects of one kind that owners of another kind control, chosen by label selectors.

    `kind` is the kind (or a view of it), `owner` is the kind of the owners. Lists include every write made through the
    manager's client, so a loop never creates an object twice. `finalizer` is added to adopted objects and removed from
    released ones.
    """

    def __init__(
        self, context: ControllerContext, kind: ObjectType[T], owner: ResourceInfo, *, finalizer: str = ""
    ) -> None:
        informer = context.informer(kind)
        if CONTROLLER_INDEX not in informer.indexer.index_names:
            informer.indexer.add_indexer(CONTROLLER_INDEX, index_by_controller)
        self._objects = context.manager.client.resource(kind, namespace="")
        self._owners = context.manager.client.direct.resource(owner, namespace="")
        self._finalizer = finalizer

    async def of(self, owner: Any) -> Sequence[T]:
        """Return the objects that the owner controls now."""
        return await self._objects.by_index(CONTROLLER_INDEX, meta(owner).uid)

    async def claim(
        self, owner: Mapping[str, Any], selector: Selector, *, passes: Callable[[T], bool] = lambda _: True
    ) -> list[T]:
        """Adopt matching orphans, release objects that no longer match, and return the objects now controlled.

        `passes` filters the objects that may be adopted or kept. Filtered objects are not changed and not returned.
        Raises `OwnerGone` if there are orphans to adopt and the owner is gone. Raises `ApiError`, `TransportError`,
        also when another client has changed an object first: the caller retries.
        """
        metadata = meta(owner)
        # By UID, and orphans by namespace: labels may have changed, so the selector alone would miss owned objects.
        found = await self._objects.by_index(CONTROLLER_INDEX, metadata.uid, orphan_key(metadata.namespace))
        deleting = metadata.deletion_timestamp is not None
        claimed: list[T] = []
        adopted: list[T] = []
        released: list[T] = []
        for obj in found:
            if not passes(obj):
                continue
            fits = selector.matches(meta(obj).labels)
            if controller_of(obj) is not None:
                (claimed if fits else released).append(obj)
            elif fits and not deleting and meta(obj).deletion_timestamp is None:
                adopted.append(obj)
        # Only before an adoption: the check costs a request, and only an adoption needs it.
        if adopted:
            await self._check_owner(owner)
        if released and not deleting:
            await asyncio.gather(*(self._release(owner, obj) for obj in released))
        results = await asyncio.gather(*(self._adopt(owner, obj) for obj in adopted))
        return claimed + [obj for obj in results if obj is not None]

    async def _check_owner(self, owner: Mapping[str, Any]) -> None:
        """Check on the server that the owner exists.

        The cached owner may be gone, and objects it adopted would then be deleted with it.
        """
        metadata = meta(owner)
        try:
            fresh = await self._owners.in_namespace(metadata.namespace).get(metadata.name)
        except NotFound as error:
            raise OwnerGone(str(error)) from error
        if meta(fresh).uid != metadata.uid or meta(fresh).deletion_timestamp is not None:
            raise OwnerGone(f"{owner.get('kind')} {metadata.namespace}/{metadata.name} is gone or being deleted")

    async def _adopt(self, owner: Mapping[str, Any], obj: T) -> T | None:
        """Make the owner the controller of an object; None if the object is gone.

        Raises `ApiError` if another controller adopted it first.
        """
        reference = owner_reference(owner, controller=True, block_owner_deletion=True)
        try:
            return await self._patch_owners(obj, as_dict(reference), "finalizers")
        except NotFound:
            return None

    async def _release(self, owner: Mapping[str, Any], obj: T) -> None:
        """Remove the owner reference. Do nothing if the object is gone or was replaced by one of the same name."""
        with contextlib.suppress(NotFound, Conflict, Invalid):
            reference = {"$patch": "delete", "uid": meta(owner).uid}
            await self._patch_owners(obj, reference, "$deleteFromPrimitiveList/finalizers")

    async def _patch_owners(self, obj: T, change: Object, finalizers: str) -> T:
        """Change one owner reference of the object with this UID, whatever its current version.

        `finalizers` is the patch directive for the finalizer, if there is one.
        """
        metadata = meta(obj)
        # The uid is a precondition: the server refuses the patch for a new object of the same name.
        fields: Object = {"uid": metadata.uid, "ownerReferences": [change]}
        if self._finalizer:
            fields[finalizers] = [self._finalizer]
        client = self._objects.in_namespace(metadata.namespace)
        return await client.patch(metadata.name, StrategicMergePatch({"metadata": fields}))


def as_dict(reference: OwnerReference) -> Object:
    """Return an owner reference in the form that patches need."""
    fields: Object = {
        "apiVersion": reference.api_version,
        "kind": reference.kind,
        "name": reference.name,
        "uid": reference.uid,
    }
    if reference.controller:
        fields["controller"] = True
    if reference.block_owner_deletion:
        fields["blockOwnerDeletion"] = True
    return fields
