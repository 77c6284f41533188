"""`References`: reads the ConfigMaps, Secrets and claims that Pods refer to.

A node reads single objects that its own Pods name. It never lists them, because the node authorizer does not allow it.
"""

from typing import Any, TypeVar

import msgspec

from sampan.client import Client, ClientError, NotFound
from sampan.loops.resources import CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, SECRETS
from sampan.resource import ObjectMeta, ObjectType, ResourceInfo

T = TypeVar("T")


class Missing(Exception):
    """A referenced object does not exist. The text is the kubelet's."""


class Unreadable(Exception):
    """A referenced object cannot be read now: the server does not respond, or denies the request."""


class ConfigMap(msgspec.Struct, rename="camel"):
    """ConfigMap."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    data: dict[str, str] = {}
    binary_data: dict[str, bytes] = {}

    @property
    def files(self) -> dict[str, bytes]:
        """All values by key."""
        return {name: text.encode() for name, text in self.data.items()} | self.binary_data


class Secret(msgspec.Struct, rename="camel"):
    """Secret."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    data: dict[str, bytes] = {}

    @property
    def files(self) -> dict[str, bytes]:
        """All values by key."""
        return self.data


class ClaimSpec(msgspec.Struct, rename="camel"):
    """Spec of a claim."""

    volume_name: str = ""
    volume_mode: str = "Filesystem"


class Claim(msgspec.Struct, rename="camel"):
    """PersistentVolumeClaim."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: ClaimSpec = msgspec.field(default_factory=ClaimSpec)
    status: dict[str, Any] = {}


class _Path(msgspec.Struct, gc=False):
    path: str = ""
    type: str = ""


class PersistentVolumeSpec(msgspec.Struct, rename="camel"):
    """Source of a volume, for the kinds that need no driver."""

    host_path: _Path | None = None
    local: _Path | None = None
    claim_ref: dict[str, Any] = {}


class PersistentVolume(msgspec.Struct, rename="camel"):
    """PersistentVolume."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PersistentVolumeSpec = msgspec.field(default_factory=PersistentVolumeSpec)


def _read_only(obj: Any) -> bytes:
    raise ValueError("a view cannot be written")


def _view(info: ResourceInfo, type: type[T]) -> ObjectType[T]:
    return ObjectType(info, msgspec.json.Decoder(type).decode, _read_only)


CONFIG_MAP_VIEW = _view(CONFIG_MAPS, ConfigMap)
SECRET_VIEW = _view(SECRETS, Secret)
_CLAIM_VIEW = _view(PERSISTENT_VOLUME_CLAIMS, Claim)
_VOLUME_VIEW = _view(PERSISTENT_VOLUMES, PersistentVolume)


class References:
    """Reads referenced objects. Every method raises `Missing` and `Unreadable`."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def config_map(self, namespace: str, name: str) -> ConfigMap:
        """Return a ConfigMap."""
        return await self._get(CONFIG_MAP_VIEW, "configmap", namespace, name)

    async def secret(self, namespace: str, name: str) -> Secret:
        """Return a Secret."""
        return await self._get(SECRET_VIEW, "secret", namespace, name)

    async def claim(self, namespace: str, name: str) -> Claim:
        """Return a PersistentVolumeClaim."""
        return await self._get(_CLAIM_VIEW, "persistentvolumeclaim", namespace, name)

    async def persistent_volume(self, name: str) -> PersistentVolume:
        """Return a PersistentVolume."""
        return await self._get(_VOLUME_VIEW, "persistentvolume", "", name)

    async def _get(self, view: ObjectType[T], word: str, namespace: str, name: str) -> T:
        try:
            return await self.client.resource(view, namespace=namespace or None).get(name)
        except NotFound:
            raise Missing(f'{word} "{name}" not found') from None
        except ClientError as error:
            raise Unreadable(f'{word} "{name}": {error}') from error
