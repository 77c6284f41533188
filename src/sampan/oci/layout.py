"""Image layouts: images in a folder or in a tar file, for `ctr images import`, `podman load`, `docker load`, kind.

Source: image-spec image-layout.md (v1.1); the file `manifest.json` of `docker save`.
"""

import io
import json
import platform as machine
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sampan.oci.blob_store import BlobStore, check_content
from sampan.oci.descriptor import INDEX, INDEXES, MANIFESTS, Descriptor, from_bytes, to_bytes
from sampan.oci.errors import OciError
from sampan.oci.image import blobs_of, manifests_of
from sampan.oci.reference import Reference

_NAME: Final = "org.opencontainers.image.ref.name"
_CONTAINERD_NAME: Final = "io.containerd.image.name"
_LAYOUT: Final = b'{"imageLayoutVersion":"1.0.0"}'
_JSON_BYTES_MAX: Final = 4 << 20
_ARCHITECTURES: Final = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64"}


def machine_architecture() -> str:
    """Return this machine's architecture as images call it."""
    return _ARCHITECTURES.get(machine.machine(), machine.machine())


def write_layout(store: BlobStore, root: Descriptor, name: Reference, target: Path) -> None:
    """Write a folder with an image and all its blobs, which the store must have. Blobs of an older image stay."""
    target.mkdir(parents=True, exist_ok=True)
    written = BlobStore(target / "blobs")
    for blob in _all_blobs(store, root):
        written.add_file(store.path(blob.digest), blob)
    for file, content in _heads(root, name).items():
        (target / file).write_bytes(content)


def write_archive(store: BlobStore, root: Descriptor, name: Reference, target: Path) -> None:
    """Write a tar file with an image and all its blobs, which the store must have. The same image gives equal bytes."""
    draft = target.with_name(f".{target.name}.draft")
    try:
        with tarfile.open(draft, "w", format=tarfile.PAX_FORMAT) as archive:
            heads = {**_heads(root, name), "manifest.json": _for_docker(store, root, name)}
            for file, content in heads.items():
                member = _member(file, len(content))
                archive.addfile(member, io.BytesIO(content))
            for blob in _all_blobs(store, root):
                with store.path(blob.digest).open("rb") as opened:
                    archive.addfile(_member(f"blobs/{blob.digest.replace(':', '/')}", blob.size), opened)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


class LayoutSource:
    """Image in a layout: a folder, or a tar file as `write_archive` writes it."""

    def __init__(self, path: Path) -> None:
        """Raises `OciError` if there is no layout with exactly one image."""
        self._path = path
        self._members = _members(path) if path.is_file() else None
        index = from_bytes(self._content("index.json"), f"{path}: index.json")
        entries = [Descriptor.parse(each) for each in index.get("manifests") or []]
        if len(entries) != 1:
            raise OciError(f"{path} has {len(entries)} images; a base is a layout with one image")
        self._root = entries[0]

    async def root(self) -> tuple[Descriptor, bytes]:
        """Return the image's manifest or index. Raises `OciError`."""
        return self._root, await self.manifest(self._root)

    async def manifest(self, descriptor: Descriptor) -> bytes:
        """Return a manifest. Raises `OciError`."""
        if descriptor.media_type not in INDEXES | MANIFESTS or descriptor.size > _JSON_BYTES_MAX:
            raise OciError(f"{self._path}: {descriptor.digest} is no manifest")
        content = self._content(f"blobs/{descriptor.digest.replace(':', '/')}")
        return check_content(content, descriptor, str(self._path))

    async def fetch(self, descriptor: Descriptor, store: BlobStore) -> None:
        """Copy a blob into a store. Raises `OciError`."""
        if descriptor.digest in store:
            return
        name = f"blobs/{descriptor.digest.replace(':', '/')}"
        if self._members is None:
            if not (self._path / name).is_file():
                raise OciError(f"{self._path} lacks the blob {descriptor.digest}")
            store.add_file(self._path / name, descriptor)
            return
        content = check_content(self._content(name), descriptor, str(self._path))
        store.add(content, descriptor.media_type)

    def _content(self, name: str) -> bytes:
        try:
            if self._members is None:
                return (self._path / name).read_bytes()
            offset, size = self._members[name]
            with self._path.open("rb") as file:
                file.seek(offset)
                return file.read(size)
        except (OSError, KeyError):
            raise OciError(f"{self._path} is no image layout: it has no {name}") from None


def _members(path: Path) -> dict[str, tuple[int, int]]:
    """Return offset and size of each file in a tar archive. Raises `OciError`."""
    try:
        with tarfile.open(path, "r:") as archive:
            return {each.name.removeprefix("./"): (each.offset_data, each.size) for each in archive if each.isfile()}
    except tarfile.TarError as error:
        raise OciError(f"{path} is no tar archive of an image: {error}") from None


def _all_blobs(store: BlobStore, root: Descriptor) -> Iterator[Descriptor]:
    """Yield each blob of an image once."""
    yielded: set[str] = set()
    for manifest in manifests_of(store, root):
        for blob in (*blobs_of(store, manifest), manifest):
            if blob.digest not in yielded:
                yielded.add(blob.digest)
                yield blob
    if root.digest not in yielded:
        yield root


def _heads(root: Descriptor, name: Reference) -> dict[str, bytes]:
    entry = root.to_json()
    entry["annotations"] = {_NAME: name.tag or "latest", _CONTAINERD_NAME: str(name)}
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}
    return {"oci-layout": _LAYOUT, "index.json": to_bytes(index)}


def _for_docker(store: BlobStore, root: Descriptor, name: Reference) -> bytes:
    """Return `manifest.json`, which Docker before version 25 reads: it names one platform, this machine's if it can."""
    manifests = manifests_of(store, root)
    own = [each for each in manifests if each.platform and each.platform.architecture == machine_architecture()]
    config, *layers = blobs_of(store, (own or manifests)[0])
    entry = {
        "Config": f"blobs/{config.digest.replace(':', '/')}",
        "RepoTags": [str(name)],
        "Layers": [f"blobs/{layer.digest.replace(':', '/')}" for layer in layers],
    }
    return json.dumps([entry], separators=(",", ":")).encode()


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o644
    return member
