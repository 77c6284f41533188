"""`References`: reads the ConfigMaps, Secrets and claims that Pods refer to.

A node reads single objects that its own Pods name. It never lists them, because the node authorizer does not allow it.
"""

from typing import Any, TypeVar

import msgspec

from sampan.client import Client, ClientError, Forbidden, NotFound
from sampan.component_base.resources import (
    CONFIG_MAPS,
    CSI_DRIVERS,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    RUNTIME_CLASSES,
    SECRETS,
    VOLUME_ATTACHMENTS,
)
from sampan.resource import ObjectMeta, ObjectType, ResourceInfo
from sampan.resource.view import view_decoder

T = TypeVar("T")


class Missing(Exception):
    """A referenced object does not exist. The message is the same as the kubelet's."""


class Unreadable(Exception):
    """A referenced object cannot be read now: the server does not respond, or denies the request."""


class ConfigMap(msgspec.Struct, rename="camel"):
    """Fields of a ConfigMap that volumes and environment variables read."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    data: dict[str, str] = {}
    binary_data: dict[str, bytes] = {}

    @property
    def files(self) -> dict[str, bytes]:
        """All values by key."""
        return {name: text.encode() for name, text in self.data.items()} | self.binary_data


class Secret(msgspec.Struct, rename="camel"):
    """Secret that a Pod uses: its metadata and decoded data."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    data: dict[str, bytes] = {}

    @property
    def files(self) -> dict[str, bytes]:
        """All values by key."""
        return self.data


class ClaimSpec(msgspec.Struct, rename="camel"):
    """Bound volume of a claim, and the way in which it is mounted."""

    access_modes: list[str] = []
    volume_name: str = ""
    volume_mode: str = "Filesystem"


class Claim(msgspec.Struct, rename="camel"):
    """Fields of a PersistentVolumeClaim that lead from a Pod to its volume."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: ClaimSpec = msgspec.field(default_factory=ClaimSpec)
    status: dict[str, Any] = {}


class _Path(msgspec.Struct, gc=False):
    path: str = ""
    type: str = ""


class SecretReference(msgspec.Struct, gc=False, frozen=True):
    """Name of a Secret with credentials that a volume gives to its driver."""

    name: str = ""
    namespace: str = ""


class CsiSource(msgspec.Struct, rename="camel"):
    """Volume of a CSI driver."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False
    fs_type: str = ""
    volume_attributes: dict[str, str] = {}
    node_stage_secret_ref: SecretReference | None = None
    node_publish_secret_ref: SecretReference | None = None
    node_expand_secret_ref: SecretReference | None = None


class PersistentVolumeSpec(msgspec.Struct, rename="camel"):
    """Spec of a PersistentVolume, with the kinds of sources that nodes support."""

    host_path: _Path | None = None
    local: _Path | None = None
    csi: CsiSource | None = None
    claim_ref: dict[str, Any] = {}
    access_modes: list[str] = []
    mount_options: list[str] = []
    capacity: dict[str, str | int | float] = {}


class PersistentVolume(msgspec.Struct, rename="camel"):
    """Fields of a PersistentVolume that the agent mounts it with."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PersistentVolumeSpec = msgspec.field(default_factory=PersistentVolumeSpec)


class TokenRequest(msgspec.Struct, rename="camel", gc=False):
    """Token that a CSI driver requests for each Pod."""

    audience: str = ""
    expiration_seconds: int | None = None


class CsiDriverSpec(msgspec.Struct, rename="camel"):
    """Properties of a CSI driver."""

    attach_required: bool = True
    pod_info_on_mount: bool = False
    volume_lifecycle_modes: list[str] = []
    fs_group_policy: str = "ReadWriteOnceWithFSType"
    token_requests: list[TokenRequest] = []
    service_account_token_in_secrets: bool = False
    requires_republish: bool = False
    node_allocatable_update_period_seconds: int | None = None


class RuntimeClass(msgspec.Struct, gc=False):
    """Fields of a RuntimeClass that select the handler of the container runtime."""

    handler: str = ""


class CsiDriver(msgspec.Struct, rename="camel"):
    """Fields of a CSIDriver that determine the calls for a volume."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: CsiDriverSpec = msgspec.field(default_factory=CsiDriverSpec)


class AttachError(msgspec.Struct, gc=False):
    """Last error of an attachment."""

    message: str = ""


class AttachmentStatus(msgspec.Struct, rename="camel"):
    """Progress of an attachment. A volume is mounted only after `attached` is true."""

    attached: bool = False
    attachment_metadata: dict[str, str] = {}
    attach_error: AttachError | None = None


class VolumeAttachment(msgspec.Struct, rename="camel"):
    """Fields of a VolumeAttachment that the agent waits for before it mounts the volume."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    status: AttachmentStatus = msgspec.field(default_factory=AttachmentStatus)


def _read_only(obj: Any) -> bytes:
    raise ValueError("a view cannot be written")


def _view(info: ResourceInfo, type: type[T]) -> ObjectType[T]:
    return ObjectType(info, view_decoder(type), _read_only)


CONFIG_MAP_VIEW = _view(CONFIG_MAPS, ConfigMap)
SECRET_VIEW = _view(SECRETS, Secret)
_CLAIM_VIEW = _view(PERSISTENT_VOLUME_CLAIMS, Claim)
_VOLUME_VIEW = _view(PERSISTENT_VOLUMES, PersistentVolume)
_RUNTIME_CLASS_VIEW = _view(RUNTIME_CLASSES, RuntimeClass)
_DRIVER_VIEW = _view(CSI_DRIVERS, CsiDriver)
_ATTACHMENT_VIEW = _view(VOLUME_ATTACHMENTS, VolumeAttachment)


class References:
    """Reads referenced objects. Every method may raise `Missing` and `Unreadable`."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def config_map(self, namespace: str, name: str) -> ConfigMap:
        """Return a ConfigMap. Raises `Missing`, `Unreadable`."""
        return await self._get(CONFIG_MAP_VIEW, "configmap", namespace, name)

    async def secret(self, namespace: str, name: str) -> Secret:
        """Return a Secret. Raises `Missing`, `Unreadable`."""
        return await self._get(SECRET_VIEW, "secret", namespace, name)

    async def claim(self, namespace: str, name: str) -> Claim:
        """Return a PersistentVolumeClaim."""
        return await self._get(_CLAIM_VIEW, "persistentvolumeclaim", namespace, name)

    async def persistent_volume(self, name: str) -> PersistentVolume:
        """Return a PersistentVolume. Raises `Missing`, `Unreadable`."""
        return await self._get(_VOLUME_VIEW, "persistentvolume", "", name)

    async def runtime_handler(self, name: str) -> str:
        """Return the handler of a RuntimeClass. Raises `Missing`, `Unreadable`."""
        return (await self._get(_RUNTIME_CLASS_VIEW, "runtimeclass.node.k8s.io", "", name)).handler

    async def csi_driver(self, name: str) -> CsiDriver | None:
        """Return a CSIDriver; None if it does not exist. It is optional."""
        try:
            return await self._get(_DRIVER_VIEW, "csidriver", "", name)
        except Missing:
            return None

    async def volume_attachment(self, name: str) -> VolumeAttachment | None:
        """Return a VolumeAttachment; None if it does not exist, which the node authorizer reports as forbidden."""
        try:
            return await self.client.resource(_ATTACHMENT_VIEW).get(name)
        except (NotFound, Forbidden):
            return None
        except ClientError as error:
            raise Unreadable(f'volumeattachment "{name}": {error}') from error

    async def _get(self, view: ObjectType[T], word: str, namespace: str, name: str) -> T:
        try:
            return await self.client.resource(view, namespace=namespace or None).get(name)
        except NotFound:
            raise Missing(f'{word} "{name}" not found') from None
        except ClientError as error:
            raise Unreadable(f'{word} "{name}": {error}') from error
