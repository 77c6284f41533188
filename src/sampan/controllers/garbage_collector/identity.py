"""Identities of objects: their own (`ObjectIdentity`), and those in owner references (`OwnerRef`).

They are tuples with shared strings to save memory, because a large cluster has very many.
"""

import sys
from typing import Final, NamedTuple

import msgspec

from sampan.core.recent import Recent
from sampan.informer.ref import read_metadata
from sampan.resource import ObjectMeta, ResourceInfo
from sampan.resource.view import view_decoder
from sampan.wire.json import UNREADABLE

ORPHAN: Final = "orphan"
"""Finalizer of an object whose dependents must be orphaned before it is deleted."""
FOREGROUND: Final = "foregroundDeletion"
"""Finalizer of an object that is deleted after the dependents that block it."""


class OwnerRef(NamedTuple):
    """The fields of an owner reference that the collector uses."""

    api_version: str
    kind: str
    name: str
    uid: str
    blocks: bool = False
    """`blockOwnerDeletion`."""


class ObjectIdentity(NamedTuple):
    """Key of a node in the graph: UID and coordinates.

    For an owner that was never observed it is taken from a dependent's reference, with the dependent's namespace.
    """

    api_version: str
    kind: str
    name: str
    uid: str
    namespace: str = ""

    def is_named_by(self, reference: OwnerRef) -> bool:
        """Return True if the reference matches this identity, ignoring the namespace."""
        return self[:4] == reference[:4]

    def __str__(self) -> str:
        return f"[{self.api_version}/{self.kind}, namespace: {self.namespace}, name: {self.name}, uid: {self.uid}]"


class ObservedObject(NamedTuple):
    """State of an object as last observed."""

    identity: ObjectIdentity
    owners: tuple[OwnerRef, ...] = ()
    resource_version: str = ""
    is_deleting: bool = False
    has_orphan: bool = False
    """True if it has the finalizer `orphan`."""
    has_foreground: bool = False
    """True if it has the finalizer `foregroundDeletion`."""


def state_of(info: ResourceInfo, metadata: ObjectMeta) -> ObservedObject:
    """Return the state from an object's metadata."""
    owners = tuple(
        OwnerRef(each.api_version, each.kind, each.name, each.uid, each.block_owner_deletion)
        for each in metadata.owner_references
    )
    return ObservedObject(
        ObjectIdentity(info.api_version, info.kind, metadata.name, metadata.uid, metadata.namespace),
        owners,
        metadata.resource_version,
        metadata.deletion_timestamp is not None,
        ORPHAN in metadata.finalizers,
        FOREGROUND in metadata.finalizers,
    )


class _Owner(msgspec.Struct, rename="camel", gc=False):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    block_owner_deletion: bool | None = None


class _Metadata(msgspec.Struct, rename="camel", gc=False):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    deletion_timestamp: str | None = None
    finalizers: list[str] | None = None
    owner_references: list[_Owner] | None = None


class _Object(msgspec.Struct, gc=False):
    metadata: _Metadata


_decoder = view_decoder(_Object)
_SHARED_OWNERS_MAX: Final = 1024
_SHARED_OWNERS_S: Final = 300.0
"""Time in seconds after which owners that no object names any more are dropped."""


class StateReader:
    """Decodes states from the JSON of a resource's objects.

    It processes every change of every object, so it is fast.
    """

    def __init__(self, info: ResourceInfo) -> None:
        self._info = info
        self._api_version = info.api_version
        self._kind = info.kind
        self._shared: Recent[tuple[OwnerRef, ...], tuple[OwnerRef, ...]] = Recent(_SHARED_OWNERS_MAX, _SHARED_OWNERS_S)

    def read(self, raw: bytes) -> ObservedObject:
        """Decode the state from an object's JSON. Raises `UnreadableObject`."""
        try:
            metadata = _decoder(raw).metadata
        except UNREADABLE:
            return state_of(self._info, read_metadata(raw))  # Some servers write nulls, which `_decoder` rejects.
        finalizers = metadata.finalizers or ()
        namespace = sys.intern(metadata.namespace)
        return ObservedObject(
            ObjectIdentity(self._api_version, self._kind, metadata.name, metadata.uid, namespace),
            self._owners(metadata.owner_references) if metadata.owner_references else (),
            metadata.resource_version,
            metadata.deletion_timestamp is not None,
            ORPHAN in finalizers,
            FOREGROUND in finalizers,
        )

    def _owners(self, references: list[_Owner]) -> tuple[OwnerRef, ...]:
        """Return the owners. All Pods of a ReplicaSet share one tuple."""
        owners = tuple(map(_owner_ref, references))
        shared = self._shared.get(owners)
        if shared is None:
            self._shared.put(owners, owners)
            return owners
        return shared


def _owner_ref(owner: _Owner) -> OwnerRef:
    api_version, kind = sys.intern(owner.api_version), sys.intern(owner.kind)
    return OwnerRef(api_version, kind, owner.name, owner.uid, bool(owner.block_owner_deletion))
