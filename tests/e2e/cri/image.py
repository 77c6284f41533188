"""Images made of Debian's busybox-static, as archives for `ctr images import`."""

import hashlib
import io
import json
import subprocess
import tarfile
from pathlib import Path

APP, PAUSE = "registry.test/app:1", "registry.test/pause:1"
_BUSYBOX = Path("/bin/busybox")
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def build(archive: Path) -> None:
    """Write an OCI archive with both images."""
    blobs: dict[str, bytes] = {}
    layer = _store(blobs, _layer(), "application/vnd.oci.image.layer.v1.tar")
    manifests = []
    for name, command in ((APP, ["/bin/sleep", "1000000"]), (PAUSE, ["/bin/sleep", "1000000"])):
        config = {
            "architecture": "amd64",
            "os": "linux",
            "config": {"Cmd": command, "Env": ["PATH=/bin"], "Labels": {"name": name}},
            "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]},
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _store(blobs, json.dumps(config).encode(), "application/vnd.oci.image.config.v1+json"),
            "layers": [layer],
        }
        found = _store(blobs, json.dumps(manifest).encode(), _MANIFEST)
        manifests.append({**found, "annotations": {"io.containerd.image.name": name}})
    index = {"schemaVersion": 2, "manifests": manifests}
    files = {f"blobs/sha256/{digest.partition(':')[2]}": data for digest, data in blobs.items()}
    files |= {"index.json": json.dumps(index).encode(), "oci-layout": b'{"imageLayoutVersion":"1.0.0"}'}
    with tarfile.open(archive, "w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))


def _layer() -> bytes:
    """Return a tar with busybox under the names of all its programs."""
    programs = subprocess.run([_BUSYBOX, "--list"], capture_output=True, text=True, check=True).stdout.split()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, mode in (("bin", 0o755), ("tmp", 0o1777), ("dev", 0o755), ("proc", 0o755), ("sys", 0o755)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            tar.addfile(entry)
        tar.add(_BUSYBOX, "bin/busybox")
        for name in programs:
            entry = tarfile.TarInfo(f"bin/{name}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
            if name != "busybox":
                tar.addfile(entry)
    return buffer.getvalue()


def _store(blobs: dict[str, bytes], data: bytes, media_type: str) -> dict[str, str | int]:
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    blobs[digest] = data
    return {"mediaType": media_type, "digest": digest, "size": len(data)}
