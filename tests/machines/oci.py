"""`OciArchive`: writes images as an archive for `ctr images import`, without a registry.

with OciArchive(Path("images.tar")) as archive:
    layer = archive.layer(Path("layer.tar"))
    archive.image("registry.test/app:1", [layer], {"Cmd": ["/bin/sh"]})
"""

import hashlib
import io
import json
import tarfile
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

_LAYER: Final = "application/vnd.oci.image.layer.v1.tar"
_CONFIG: Final = "application/vnd.oci.image.config.v1+json"
_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"

Descriptor = Mapping[str, Any]
"""Media type, digest and size of a blob."""


class OciArchive:
    """Archive that is being written. It is complete after the `with` block."""

    def __init__(self, path: Path) -> None:
        """`path`: of the archive. An existing file is replaced."""
        self._path = path
        self._written: set[str] = set()
        self._manifests: list[Descriptor] = []

    def __enter__(self) -> Self:
        self._tar = tarfile.open(self._path, "w")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        """Write the index."""
        index = {"schemaVersion": 2, "manifests": self._manifests}
        self._add("index.json", json.dumps(index).encode())
        self._add("oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        self._tar.close()

    def layer(self, tar: Path) -> Descriptor:
        """Add a layer from a tar file, which may be large."""
        with tar.open("rb") as file:
            digest = f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
            file.seek(0)
            if digest not in self._written:
                self._written.add(digest)
                entry = tarfile.TarInfo(_blob(digest))
                entry.size = tar.stat().st_size
                self._tar.addfile(entry, file)
        return {"mediaType": _LAYER, "digest": digest, "size": tar.stat().st_size}

    def image(self, name: str, layers: Sequence[Descriptor], config: Mapping[str, Any]) -> None:
        """Add an image. `config`: Cmd, Entrypoint, Env, User and so on, as in the OCI image specification."""
        described = {
            "architecture": "amd64",
            "os": "linux",
            "config": config,
            "rootfs": {"type": "layers", "diff_ids": [each["digest"] for each in layers]},
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": self._store(json.dumps(described).encode(), _CONFIG),
            "layers": layers,
        }
        found = self._store(json.dumps(manifest).encode(), _MANIFEST)
        self._manifests.append({**found, "annotations": {"io.containerd.image.name": name}})

    def _store(self, data: bytes, media_type: str) -> Descriptor:
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        if digest not in self._written:
            self._written.add(digest)
            self._add(_blob(digest), data)
        return {"mediaType": media_type, "digest": digest, "size": len(data)}

    def _add(self, name: str, data: bytes) -> None:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        self._tar.addfile(entry, io.BytesIO(data))


def _blob(digest: str) -> str:
    return f"blobs/sha256/{digest.partition(':')[2]}"
