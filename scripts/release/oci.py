"""`write_image`: an OCI image layout in one tar file, from layers.

podman, skopeo and containerd load it: `podman load -i FILE`, `ctr images import FILE`.

Source: image-spec image-layout.md, manifest.md, config.md, layer.md (v1.1).
"""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

_INDEX: Final = "application/vnd.oci.image.index.v1+json"
_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
_CONFIG: Final = "application/vnd.oci.image.config.v1+json"
_LAYER: Final = "application/vnd.oci.image.layer.v1.tar+gzip"
_LEVEL: Final = 6


@dataclass(frozen=True, slots=True)
class Layer:
    """Compressed layer, with the digest of its uncompressed content."""

    content: bytes
    diff_id: str
    made_by: str

    @classmethod
    def of(cls, archive: bytes, made_by: str) -> "Layer":
        """Return the layer of a tar archive. `made_by`: text for the image's history."""
        return cls(gzip.compress(archive, _LEVEL, mtime=0), digest(archive), made_by)


@dataclass(frozen=True, slots=True)
class Image:
    """Image for one architecture. `config`: the fields of the config's `config`, such as Entrypoint."""

    name: str
    architecture: str
    created: str
    layers: Sequence[Layer]
    config: Mapping[str, Any] = field(default_factory=dict)


def digest(content: bytes) -> str:
    """Return the digest of a blob."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def write_image(image: Image, target: Path) -> str:
    """Write the layout and return the digest of the manifest. The same image always gives the same bytes."""
    blobs: dict[str, bytes] = {}

    def add(media_type: str, content: bytes) -> dict[str, Any]:
        blobs[digest(content)] = content
        return {"mediaType": media_type, "digest": digest(content), "size": len(content)}

    manifest = {
        "schemaVersion": 2,
        "mediaType": _MANIFEST,
        "config": add(_CONFIG, _json(_config(image))),
        "layers": [add(_LAYER, layer.content) for layer in image.layers],
    }
    entry = add(_MANIFEST, _json(manifest))
    entry["platform"] = {"architecture": image.architecture, "os": "linux"}
    entry["annotations"] = {"org.opencontainers.image.ref.name": image.name, "io.containerd.image.name": image.name}
    files = {
        "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
        "index.json": _json({"schemaVersion": 2, "mediaType": _INDEX, "manifests": [entry]}),
        **{f"blobs/{name.replace(':', '/')}": content for name, content in blobs.items()},
    }
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))
    return str(entry["digest"])


def archive_of(directory: Path, at: str, empty: Mapping[str, int]) -> bytes:
    """Return a tar archive of a directory, placed at the path `at`, and of empty directories with their owners' ids."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, owner in sorted(empty.items()):
            member = tarfile.TarInfo(name)
            member.type, member.mode, member.uid, member.gid = tarfile.DIRTYPE, 0o700, owner, owner
            archive.addfile(member)
        for path in [directory, *sorted(directory.rglob("*"))]:
            archive.add(path, Path(at, path.relative_to(directory)).as_posix(), recursive=False, filter=_owned_by_root)
    return packed.getvalue()


def _owned_by_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member


def _config(image: Image) -> dict[str, Any]:
    return {
        "created": image.created,
        "architecture": image.architecture,
        "os": "linux",
        "config": dict(image.config),
        "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in image.layers]},
        "history": [{"created": image.created, "created_by": layer.made_by} for layer in image.layers],
    }


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()
