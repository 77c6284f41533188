"""Sources of a Pod's volumes. Source: api core/v1/types.go `VolumeSource` (1.36)."""

from typing import Any

import msgspec


class KeyToPath(msgspec.Struct, rename="camel", gc=False):
    """Key, and the path of its file."""

    key: str = ""
    path: str = ""
    mode: int | None = None


class FieldPath(msgspec.Struct, rename="camel", gc=False):
    """Field of the Pod."""

    field_path: str = ""


class ResourcePath(msgspec.Struct, rename="camel", gc=False):
    """Request or limit of a container."""

    container_name: str = ""
    resource: str = ""
    divisor: str | int | float = ""


class DownwardFile(msgspec.Struct, rename="camel", gc=False):
    """File with a field or resource of the Pod."""

    path: str = ""
    field_ref: FieldPath | None = None
    resource_field_ref: ResourcePath | None = None
    mode: int | None = None


class EmptyDir(msgspec.Struct, rename="camel", gc=False):
    """Directory that is empty at first."""

    medium: str = ""
    size_limit: str | int | float | None = None


class HostPath(msgspec.Struct, rename="camel", gc=False):
    """Path of the node."""

    path: str = ""
    type: str = ""


class Projection(msgspec.Struct, rename="camel", gc=False):
    """Files from a ConfigMap or a Secret."""

    name: str = ""
    secret_name: str = ""
    items: list[KeyToPath] = []
    default_mode: int = 0o644
    optional: bool = False


class DownwardApi(msgspec.Struct, rename="camel", gc=False):
    """Files from fields of the Pod."""

    items: list[DownwardFile] = []
    default_mode: int = 0o644


class TokenProjection(msgspec.Struct, rename="camel", gc=False):
    """File with a token of the Pod's ServiceAccount."""

    audience: str = ""
    expiration_seconds: int = 3600
    path: str = ""


class ProjectedSource(msgspec.Struct, rename="camel", gc=False):
    """One source of a projected volume."""

    config_map: Projection | None = None
    secret: Projection | None = None
    downward_api: DownwardApi | None = msgspec.field(name="downwardAPI", default=None)
    service_account_token: TokenProjection | None = None
    cluster_trust_bundle: dict[str, Any] | None = None


class Projected(msgspec.Struct, rename="camel", gc=False):
    """Several sources in one directory."""

    sources: list[ProjectedSource] | None = None
    default_mode: int = 0o644


class ClaimSource(msgspec.Struct, rename="camel", gc=False):
    """Reference to a PersistentVolumeClaim."""

    claim_name: str = ""
    read_only: bool = False


class SecretName(msgspec.Struct, gc=False):
    """Secret in the Pod's namespace."""

    name: str = ""


class InlineCsi(msgspec.Struct, rename="camel", gc=False):
    """Volume that a CSI driver makes for the Pod."""

    driver: str = ""
    read_only: bool = False
    fs_type: str = ""
    volume_attributes: dict[str, str] = {}
    node_publish_secret_ref: SecretName | None = None


class ImageVolumeSource(msgspec.Struct, rename="camel", gc=False):
    """Files of an image."""

    reference: str = ""
    pull_policy: str = ""


class Volume(msgspec.Struct, rename="camel", gc=False):
    """Volume with one of these sources. Without any, its source is unknown."""

    name: str = ""
    empty_dir: EmptyDir | None = None
    host_path: HostPath | None = None
    config_map: Projection | None = None
    secret: Projection | None = None
    projected: Projected | None = None
    downward_api: DownwardApi | None = msgspec.field(name="downwardAPI", default=None)
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: dict[str, Any] | None = None
    image: ImageVolumeSource | None = None
    csi: InlineCsi | None = None
