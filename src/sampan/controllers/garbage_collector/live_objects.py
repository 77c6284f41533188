"""`LiveObjects`: the collector's requests to the server. Writes carry the UID, so they only affect the intended object.

Source: pkg/controller/garbagecollector/operations.go, patch.go (1.36).
"""

from collections.abc import Callable, Iterable

from sampan.client import (
    Client,
    DeleteOptions,
    MergePatch,
    NoMatch,
    NotFound,
    StrategicMergePatch,
    UnsupportedMediaType,
)
from sampan.client.discovery.rest_mapper import RESTMapper
from sampan.client.objects.partial_metadata import PartialObjectMetadata
from sampan.client.options import ListOptions, Propagation
from sampan.client.patch import Patch
from sampan.client.resource_client import ResourceClient
from sampan.client.retries.on_conflict import retry_on_conflict
from sampan.client.watching.pager import PAGE_SIZE, list_all
from sampan.controllers.garbage_collector.identity import ObjectIdentity, ObservedObject, StateReader, state_of
from sampan.core.gvk import GroupVersionResource
from sampan.operator.request import RetryLater
from sampan.resource import Object, ObjectMeta, OwnerReference, ResourceInfo


class ObjectGone(RetryLater):
    """The server has no object of this name, or one with another UID."""


class NamespacedOwnerOfClusterObject(Exception):
    """A cluster-scoped object references a namespaced owner, which is never valid, so a retry is useless."""


class LiveObjects:
    """Access to objects by identity.

    All methods raise `NoMatch` for a kind that the server does not have (yet), `ApiError` and `TransportError`.
    """

    def __init__(self, client: Client, mapper: RESTMapper) -> None:
        self._client = client
        self._mapper = mapper
        self._plain: set[GroupVersionResource] = set()
        """Resources that do not support strategic merge patches."""

    async def resource_of(self, identity: ObjectIdentity) -> ResourceInfo:
        """Return the resource of an object's kind."""
        return await self._mapper.resource_for((identity.api_version, identity.kind))

    async def get(self, identity: ObjectIdentity) -> ObservedObject:
        """Read the current state of an object. Raises `ObjectGone`, `NamespacedOwnerOfClusterObject`."""
        info = await self.resource_of(identity)
        return state_of(info, await self._read(self._of(info, identity), identity))

    async def dependents(self, info: ResourceInfo, owner: ObjectIdentity) -> list[ObjectIdentity]:
        """Return the objects of a resource that reference an owner; for a namespaced owner, only in its namespace."""
        if owner.namespace and not info.namespaced:
            return []
        objects = self._client.resource(info, namespace=owner.namespace).metadata_only()
        states, uid = StateReader(info), owner.uid.encode()
        listed = await list_all(objects.list_watch().list, ListOptions(), page_size=PAGE_SIZE)
        # Most objects have no such reference, so decoding them is skipped.
        found = [states.read(raw) for raw in listed.items if uid in raw]
        return [state.identity for state in found if any(each.uid == owner.uid for each in state.owners)]

    async def delete(self, identity: ObjectIdentity, policy: Propagation, resource_version: str) -> None:
        """Delete the object; with a `resource_version`, only in that version.

        Raises `ObjectGone`; `Conflict` if it has another version or UID.
        """
        objects = self._of(await self.resource_of(identity), identity)
        options = DeleteOptions(propagation_policy=policy, uid=identity.uid, resource_version=resource_version)
        try:
            await objects.delete(identity.name, options)
        except NotFound as error:
            raise _missing(error, identity) from error

    async def remove_owners(self, identity: ObjectIdentity, uids: Iterable[str]) -> None:
        """Remove owner references from the object, if it has them. Raises `ObjectGone`."""
        removed = set(uids)
        await self._patch_owners(
            identity,
            [{"$patch": "delete", "uid": uid} for uid in sorted(removed)],
            lambda owners: [owner for owner in owners if owner.uid not in removed],
        )

    async def unblock_owners(self, identity: ObjectIdentity, uids: Iterable[str]) -> None:
        """Stop the object from blocking the deletion of these owners. Raises `ObjectGone`."""
        blocked = set(uids)
        await self._patch_owners(
            identity,
            [{"uid": uid, "blockOwnerDeletion": False} for uid in sorted(blocked)],
            lambda owners: [_unblocking(owner) if owner.uid in blocked else owner for owner in owners],
        )

    async def remove_finalizer(self, identity: ObjectIdentity, finalizer: str) -> None:
        """Remove a finalizer from the object, if it has it. Raises `ObjectGone`; `Conflict` after several attempts."""
        objects = self._of(await self.resource_of(identity), identity)

        async def attempt() -> None:
            metadata = await self._read(objects, identity)
            if finalizer not in metadata.finalizers:
                return
            others = [each for each in metadata.finalizers if each != finalizer]
            await self._patch(objects, identity, _locked(metadata, {"finalizers": others or None}))

        await retry_on_conflict(attempt)

    # ---- internals

    def _of(self, info: ResourceInfo, identity: ObjectIdentity) -> ResourceClient[PartialObjectMetadata]:
        if info.namespaced and not identity.namespace:
            raise NamespacedOwnerOfClusterObject(f"{identity} is invalid: the kind {info.kind} is namespaced")
        return self._client.resource(info, namespace=identity.namespace).metadata_only()

    async def _read(self, objects: ResourceClient[PartialObjectMetadata], identity: ObjectIdentity) -> ObjectMeta:
        try:
            metadata = (await objects.get(identity.name)).metadata
        except NotFound as error:
            raise _missing(error, identity) from error
        if metadata.uid != identity.uid:
            raise ObjectGone(f"another object has the name of {identity}")
        return metadata

    async def _patch(
        self, objects: ResourceClient[PartialObjectMetadata], identity: ObjectIdentity, patch: Patch
    ) -> None:
        try:
            await objects.patch(identity.name, patch)
        except NotFound as error:
            raise _missing(error, identity) from error

    async def _patch_owners(
        self,
        identity: ObjectIdentity,
        strategic: list[Object],
        change: Callable[[list[OwnerReference]], list[OwnerReference]],
    ) -> None:
        """Change owner references with a strategic merge patch, which needs no read.

        Custom resources do not support it: they are read first and then changed with a merge patch.
        """
        info = await self.resource_of(identity)
        objects = self._of(info, identity)
        if info.gvr not in self._plain:
            fields = {"metadata": {"uid": identity.uid, "ownerReferences": strategic}}
            try:
                await self._patch(objects, identity, StrategicMergePatch(fields))
                return
            except UnsupportedMediaType:
                self._plain.add(info.gvr)

        async def attempt() -> None:
            metadata = await self._read(objects, identity)
            owners = [_fields(owner) for owner in change(metadata.owner_references)]
            await self._patch(objects, identity, _locked(metadata, {"ownerReferences": owners or None}))

        await retry_on_conflict(attempt)


def _missing(error: NotFound, identity: ObjectIdentity) -> Exception:
    """Return the error for a 404 response.

    If the 404 names the object, the object is gone. Otherwise its resource is not served (any more), and the
    object may still exist: treating it as gone would delete its dependents.
    """
    named = (error.details or {}).get("name") == identity.name
    return ObjectGone(str(error)) if named else NoMatch(f"{identity}: {error}")


def _locked(metadata: ObjectMeta, changes: Object) -> MergePatch:
    """Return a patch of metadata that conflicts unless the object has the version that was read."""
    return MergePatch({"metadata": {"uid": metadata.uid, "resourceVersion": metadata.resource_version, **changes}})


def _unblocking(owner: OwnerReference) -> OwnerReference:
    return OwnerReference(owner.api_version, owner.kind, owner.name, owner.uid, owner.controller, False)


def _fields(owner: OwnerReference) -> Object:
    fields: Object = {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid}
    if owner.controller:
        fields["controller"] = True
    if owner.block_owner_deletion:
        fields["blockOwnerDeletion"] = True
    return fields
