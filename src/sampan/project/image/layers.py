"""Layers of a project's image: the locked wheels, and the project's own package."""

import tempfile
from pathlib import Path
from typing import Final

from sampan.oci.blob_store import BlobStore
from sampan.oci.descriptor import Platform
from sampan.oci.layer import Layer, LayerFile, add_layer, archive_of, files_below
from sampan.project.errors import ProjectError
from sampan.project.image.lock import digest_of_lock, install
from sampan.project.image.notes import LayerNotes
from sampan.project.image.settings import ImageSettings

WHEELS: Final = "app/lib"
"""Folder of the locked wheels."""
PACKAGE: Final = "app/src"
"""Folder of the project's import package."""
_FORMAT: Final = 1
"""Version of the layers' content: a change gives other layers."""
_OF_MACHINE: Final = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_cache.json", "uv_build.json")
"""Files of an installation that depend on this machine. Nothing in an image reads them."""
_SKIPPED: Final = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"})
_FILE_BYTES_MAX: Final = 256 << 20


def wheels_layer(
    store: BlobStore, settings: ImageSettings, platform: Platform, python: str, notes: LayerNotes
) -> Layer:
    """Return the layer of the locked wheels. Raises `ProjectError`."""
    inputs = [_FORMAT, digest_of_lock(settings), str(platform), python, settings.glibc]
    made_by = f"wheels of {settings.lock.name}"
    known = notes.find(inputs, made_by)
    if known is not None:
        return known
    with tempfile.TemporaryDirectory() as folder:
        install(settings, platform, python, Path(folder))
        files = [each for each in files_below(Path(folder), WHEELS) if _is_portable(each.path)]
    layer = add_layer(store, archive_of(files), made_by)
    notes.add(inputs, layer)
    return layer


def package_layer(store: BlobStore, settings: ImageSettings) -> Layer:
    """Return the layer of the project's import package, with its data files. Raises `ProjectError` if it is absent."""
    package = settings.project.source / settings.project.package
    if not package.is_dir():
        raise ProjectError(f"{package} is missing: tool.sampan.package names the import package of the project")
    files = []
    for path in sorted(package.rglob("*")):
        inner = path.relative_to(package)
        if path.is_file() and not _SKIPPED.intersection(inner.parts) and path.suffix != ".pyc":
            if path.stat().st_size > _FILE_BYTES_MAX:
                raise ProjectError(
                    f"{path} is larger than {_FILE_BYTES_MAX >> 20} MiB: keep large data out of the package"
                )
            # A checkout's permissions depend on the user; those of the image must not.
            files.append(LayerFile(f"{PACKAGE}/{settings.project.package}/{inner.as_posix()}", path.read_bytes()))
    return add_layer(store, archive_of(files), f"package {settings.project.package}")


def _is_portable(path: str) -> bool:
    inner = path.removeprefix(f"{WHEELS}/")
    name = inner.rpartition("/")[2]
    if inner.startswith("bin/") or name == ".lock" or "__pycache__" in inner:
        return False
    return not (".dist-info/" in inner and name in _OF_MACHINE)
