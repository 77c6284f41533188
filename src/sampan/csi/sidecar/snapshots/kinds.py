"""Snapshots: their kinds, which come from CustomResourceDefinitions, and names.

Source: external-snapshotter pkg/utils/util.go.
"""

import re
from collections.abc import Mapping
from typing import Final

from sampan.client import ApiError, Client, ListOptions, NotFound
from sampan.core.gvk import GroupVersionResource
from sampan.csi.sidecar.secrets import PREFIX, InvalidClass, resolved, secret_keys
from sampan.resource import Object, ResourceInfo, meta

GROUP: Final = "snapshot.storage.k8s.io"
VOLUME_SNAPSHOTS: Final = ResourceInfo(GroupVersionResource(GROUP, "v1", "volumesnapshots"), "VolumeSnapshot", True)
VOLUME_SNAPSHOT_CONTENTS: Final = ResourceInfo(
    GroupVersionResource(GROUP, "v1", "volumesnapshotcontents"), "VolumeSnapshotContent", False
)
VOLUME_SNAPSHOT_CLASSES: Final = ResourceInfo(
    GroupVersionResource(GROUP, "v1", "volumesnapshotclasses"), "VolumeSnapshotClass", False
)
_ANNOTATION: Final = "snapshot.storage.kubernetes.io"
CONTENT_FINALIZER: Final = f"{_ANNOTATION}/volumesnapshotcontent-bound-protection"
BOUND_FINALIZER: Final = f"{_ANNOTATION}/volumesnapshot-bound-protection"
BEING_CREATED: Final = f"{_ANNOTATION}/volumesnapshot-being-created"
"""Annotation of a content while the driver may be taking the snapshot."""
BEING_DELETED: Final = f"{_ANNOTATION}/volumesnapshot-being-deleted"
"""Annotation of a content whose VolumeSnapshot is being deleted."""
DEFAULT_CLASS: Final = f"{_ANNOTATION}/is-default-class"
DELETION_SECRET: Final = f"{_ANNOTATION}/deletion-secret"
_USE: Final = "snapshotter"
_OWN: Final = re.compile(rf"{re.escape(PREFIX)}snapshotter(-list)?-secret-(name|namespace)\Z")


async def are_served(client: Client) -> bool:
    """Return True if the server has the kinds and this program may read them. Raises `TransportError`, `ApiError`."""
    try:
        await client.resource(VOLUME_SNAPSHOT_CONTENTS).list(ListOptions(limit=1))
    except NotFound:
        return False
    except ApiError as error:
        if error.code == 403:
            return False
        raise
    return True


def content_name(snapshot: Object) -> str:
    """Return the name of the content of a VolumeSnapshot."""
    return f"snapcontent-{meta(snapshot).uid}"


def snapshot_parameters(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of a class, without the parameters that name Secrets. Raises `InvalidClass`."""
    unknown = [key for key in parameters if key.startswith(PREFIX) and not _OWN.match(key)]
    if unknown:
        raise InvalidClass(f'found unknown parameter key "{unknown[0]}" with reserved namespace {PREFIX}')
    return {key: value for key, value in parameters.items() if not key.startswith(PREFIX)}


def snapshot_secret(parameters: Mapping[str, str], content: str, reference: Mapping[str, str]) -> dict[str, str] | None:
    """Return the reference to the Secret of a class, or None. Raises `InvalidClass`.

    `content`: name of the content. `reference`: namespace and name of the VolumeSnapshot.
    """
    name_key, namespace_key = secret_keys(_USE)
    if name_key not in parameters and namespace_key not in parameters:
        return None
    if not parameters.get(name_key) or not parameters.get(namespace_key):
        raise InvalidClass("snapshotter secrets need a name and a namespace in the parameters")
    known = {"volumesnapshotcontent.name": content, "volumesnapshot.namespace": reference["namespace"]}
    namespace = resolved(parameters[namespace_key], known)
    name = resolved(parameters[name_key], {**known, "volumesnapshot.name": reference["name"]})
    return {"name": name, "namespace": namespace}
