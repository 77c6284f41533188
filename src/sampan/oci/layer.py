"""Layers: reproducible archives of files. The same files give the same digest, on each day and by each user.

Entries are sorted, belong to root and have one time. The compressed bytes depend on the version of zlib as well.

Source: image-spec layer.md (v1.1).
"""

import gzip
import io
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from sampan.oci.blob_store import BlobStore
from sampan.oci.descriptor import LAYER, Descriptor, digest_of
from sampan.oci.errors import OciError

_LEVEL: Final = 6


@dataclass(frozen=True, slots=True)
class LayerFile:
    """File of a layer. `path` is relative to the root of the image."""

    path: str
    content: bytes
    is_executable: bool = False


@dataclass(frozen=True, slots=True)
class Layer:
    """Compressed layer, with the digest of its uncompressed archive. `made_by`: text for the image's history."""

    descriptor: Descriptor
    diff_id: str
    made_by: str


def add_layer(store: BlobStore, archive: bytes, made_by: str) -> Layer:
    """Add the layer of a tar archive to a store."""
    compressed = gzip.compress(archive, _LEVEL, mtime=0)
    return Layer(store.add(compressed, LAYER), digest_of(archive), made_by)


def archive_of(files: Iterable[LayerFile], *, empty: Mapping[str, int] = {}) -> bytes:
    """Return a tar archive of files, with their directories. All entries have the time 0.

    `empty`: empty directories that only their owners may use, and the ids of these owners. Raises `OciError` for a path
    outside the image, and for two files with one path.
    """
    packed = io.BytesIO()
    by_path: dict[str, LayerFile] = {}
    for file in files:
        path = _checked(file.path)
        if path in by_path and by_path[path].content != file.content:
            raise OciError(f"two files of the image have the path /{path}")
        by_path[path] = file
    directories = {str(parent) for path in (*by_path, *empty) for parent in PurePosixPath(path).parents} - {"."}
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted({*directories, *by_path, *empty}):
            member = tarfile.TarInfo(path)
            if path in by_path:
                content = by_path[path].content
                member.size, member.mode = len(content), 0o755 if by_path[path].is_executable else 0o644
                archive.addfile(member, io.BytesIO(content))
                continue
            member.type, member.mode = tarfile.DIRTYPE, 0o755
            if path in empty:
                member.mode, member.uid, member.gid = 0o700, empty[path], empty[path]
            archive.addfile(member)
    return packed.getvalue()


def files_below(directory: Path, at: str) -> list[LayerFile]:
    """Return the files below a directory, placed at the path `at` of the image. Symbolic links become files."""
    files = [path for path in sorted(directory.rglob("*")) if path.is_file()]
    return [
        LayerFile(f"{at}/{path.relative_to(directory).as_posix()}", path.read_bytes(), _is_executable(path))
        for path in files
    ]


def _is_executable(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o100)


def _checked(path: str) -> str:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise OciError(f"path {path!r} is outside the image")
    return str(pure)
