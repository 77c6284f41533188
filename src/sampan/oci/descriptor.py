"""`Descriptor`: media type, digest and size of a blob. Blobs are everything in an image: layers, config, manifests.

Source: image-spec descriptor.md, media-types.md (v1.1).
"""

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.oci.errors import OciError

INDEX: Final = "application/vnd.oci.image.index.v1+json"
MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
CONFIG: Final = "application/vnd.oci.image.config.v1+json"
LAYER: Final = "application/vnd.oci.image.layer.v1.tar+gzip"
DOCKER_INDEX: Final = "application/vnd.docker.distribution.manifest.list.v2+json"
DOCKER_MANIFEST: Final = "application/vnd.docker.distribution.manifest.v2+json"
INDEXES: Final = frozenset({INDEX, DOCKER_INDEX})
MANIFESTS: Final = frozenset({MANIFEST, DOCKER_MANIFEST})

_OCI_TYPES: Final = {
    "application/vnd.docker.image.rootfs.diff.tar.gzip": LAYER,
    "application/vnd.docker.container.image.v1+json": CONFIG,
    DOCKER_MANIFEST: MANIFEST,
    DOCKER_INDEX: INDEX,
}
"""Media types of OCI for those of Docker. The blobs are the same."""

_is_digest = re.compile("sha256:[0-9a-f]{64}").fullmatch


def digest_of(content: bytes) -> str:
    """Return the digest of a blob: `sha256:` and 64 hexadecimal digits."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def checked_digest(value: object) -> str:
    """Return a digest that is safe as the name of a file. Raises `OciError` for anything but SHA-256."""
    if not isinstance(value, str) or _is_digest(value) is None:
        raise OciError(f"{value!r} is no digest with SHA-256")
    return value


@dataclass(frozen=True, slots=True)
class Platform:
    """Operating system and architecture of an image, as Go names them: `linux/amd64`, `linux/arm64`."""

    architecture: str
    os: str = "linux"

    def __str__(self) -> str:
        return f"{self.os}/{self.architecture}"


@dataclass(frozen=True, slots=True)
class Descriptor:
    """Reference to a blob. `size` is in bytes."""

    media_type: str
    digest: str
    size: int
    platform: Platform | None = None
    annotations: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, content: bytes, media_type: str) -> "Descriptor":
        """Return the descriptor of a blob."""
        return cls(media_type, digest_of(content), len(content))

    @classmethod
    def parse(cls, value: Any) -> "Descriptor":
        """Return the descriptor in JSON. Raises `OciError`."""
        if not isinstance(value, dict) or not isinstance(value.get("size"), int) or value["size"] < 0:
            raise OciError(f"bad descriptor in a manifest: {str(value)[:100]}")
        media_type, found = str(value.get("mediaType", "")), value.get("platform")
        platform = None
        if isinstance(found, dict):
            platform = Platform(str(found.get("architecture", "")), str(found.get("os", "")))
        annotations = value.get("annotations")
        return cls(
            _OCI_TYPES.get(media_type, media_type),
            checked_digest(value.get("digest")),
            value["size"],
            platform,
            dict(annotations) if isinstance(annotations, dict) else {},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the descriptor in the form of manifests and indexes."""
        made: dict[str, Any] = {"mediaType": self.media_type, "digest": self.digest, "size": self.size}
        if self.platform is not None:
            made["platform"] = {"architecture": self.platform.architecture, "os": self.platform.os}
        if self.annotations:
            made["annotations"] = self.annotations
        return made


def to_bytes(value: object) -> bytes:
    """Return JSON that is the same for the same value."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def from_bytes(content: bytes, source: str) -> dict[str, Any]:
    """Return the JSON object in a blob. `source`: name for the error. Raises `OciError`."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise OciError(f"{source} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise OciError(f"{source} is not a JSON object")
    return value
