"""Bases of images: images of registries by digest, layouts, and root file systems made of Debian's packages."""

import asyncio
import re
import tarfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.oci.blob_store import BlobStore
from sampan.oci.descriptor import Descriptor, Platform
from sampan.oci.errors import OciError
from sampan.oci.http_exchange import HttpExchange
from sampan.oci.image import BaseImage, ImageOptions, ImageSource, add_image, read_base
from sampan.oci.layer import Layer, add_layer
from sampan.oci.layout import LayoutSource, machine_architecture
from sampan.oci.reference import Reference
from sampan.oci.registry import Registry
from sampan.oci.transfer import RegistrySource
from sampan.project.errors import ProjectError
from sampan.project.image.notes import LayerNotes
from sampan.project.image.settings import TABLE, ImageSettings

PYTHON_LABEL: Final = "dev.sampan.python"
_PYTHON_VARIABLE: Final = "PYTHON_VERSION"
_is_python = re.compile(r"(?:\./)?(?:usr/)?bin/python3").fullmatch
_minor = re.compile(r"python(3\.\d+)").search
_version = re.compile(r"(3\.\d+)(?:\.|\Z)").match


@dataclass(frozen=True, slots=True)
class Base:
    """Base images by platform. `python`: version of their Python. `fetch` puts one of their layers into the store."""

    images: dict[Platform, BaseImage]
    python: str
    fetch: Callable[[Descriptor], Awaitable[None]]
    reference: Reference | None = None
    """Name in a registry; None for a local base."""


def default_base(python: str) -> str:
    """Return the name of the default base for a version of Python: Debian with Python, without compilers."""
    return f"python:{python}-slim"


async def open_base(settings: ImageSettings, store: BlobStore, notes: LayerNotes, exchange: HttpExchange) -> Base:
    """Return the base of the settings. Raises `OciError`, `ProjectError`."""
    path = settings.root / settings.base
    if path.exists():
        if path.is_file() and _is_root_file_system(path):
            return await _of_root_file_system(settings, path, store, notes)
        return await _of_source(settings, LayoutSource(path), store, None)
    if "/" in settings.base and settings.base.startswith((".", "/")):
        raise ProjectError(f"{TABLE}.base: {path} does not exist")
    reference = Reference.parse(settings.base)
    if not reference.digest:
        raise ProjectError(
            f"{TABLE}.base = {settings.base!r} has no digest, so it can change: run sampan build --update-base"
        )
    source = RegistrySource(Registry(exchange, reference.host), reference)
    return await _of_source(settings, source, store, reference)


async def pinned(name: str, exchange: HttpExchange) -> str:
    """Return the name of an image in a registry with its present digest. Raises `OciError`."""
    reference = Reference.parse(name.partition("@")[0])
    found, _ = await Registry(exchange, reference.host).manifest(reference)
    return f"{name.partition('@')[0]}@{found.digest}"


async def _of_source(
    settings: ImageSettings, source: ImageSource, store: BlobStore, reference: Reference | None
) -> Base:
    images = {platform: await read_base(source, platform, store) for platform in settings.platforms}

    async def fetch(layer: Descriptor) -> None:
        await source.fetch(layer, store)

    first = images[settings.platforms[0]]
    return Base(images, settings.python or _python_of(first), fetch, reference)


async def _of_root_file_system(settings: ImageSettings, path: Path, store: BlobStore, notes: LayerNotes) -> Base:
    """Return a base with one layer. The archive is for this machine's architecture, like the programs in it."""
    platform = Platform(machine_architecture())
    if settings.platforms != (platform,):
        raise ProjectError(f'{path} is for {platform}: set {TABLE}.platforms = ["{platform}"]')
    python = settings.python or _python_in(path)
    layer = await asyncio.to_thread(_layer_of, path, store, notes)
    options = ImageOptions("1970-01-01T00:00:00Z", environment={"PATH": "/usr/local/bin:/usr/bin:/bin"})
    manifest = add_image(store, platform, None, [layer], options)
    source = _StoreSource(store, manifest)

    async def fetch(layer: Descriptor) -> None:
        """The layer is in the store."""

    return Base({platform: await read_base(source, platform, store)}, python, fetch)


def _layer_of(path: Path, store: BlobStore, notes: LayerNotes) -> Layer:
    made_by = f"root file system {path.name}"
    status = path.stat()
    inputs = [str(path.resolve()), status.st_size, status.st_mtime_ns, status.st_ino]
    layer = notes.find(inputs, made_by)
    if layer is None:
        layer = add_layer(store, path.read_bytes(), made_by)
        notes.add(inputs, layer)
    return layer


class _StoreSource:
    """Image in a store."""

    def __init__(self, store: BlobStore, manifest: Descriptor) -> None:
        self._store, self._manifest = store, manifest

    async def root(self) -> tuple[Descriptor, bytes]:
        return self._manifest, self._store.read(self._manifest.digest)

    async def manifest(self, descriptor: Descriptor) -> bytes:
        return self._store.read(descriptor.digest)

    async def fetch(self, descriptor: Descriptor, store: BlobStore) -> None:
        if descriptor.digest not in store:
            raise OciError(f"blob {descriptor.digest} is missing")


def _is_root_file_system(path: Path) -> bool:
    """Return whether a tar archive has files of a system, not an image layout. Raises `ProjectError` for no archive."""
    try:
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                name = member.name.removeprefix("./").rstrip("/")
                if name in ("oci-layout", "index.json"):
                    return False
                if name in ("etc", "usr", "bin"):
                    return True
    except tarfile.TarError as error:
        raise ProjectError(f"{TABLE}.base: {path} is no tar archive: {error}") from None
    return False


def _python_in(path: Path) -> str:
    with tarfile.open(path, "r:") as archive:
        for member in archive:
            if _is_python(member.name) and (found := _minor(member.linkname)):
                return found[1]
    raise ProjectError(f"{path} has no python3: add the package python3-minimal, or set {TABLE}.python")


def _python_of(base: BaseImage) -> str:
    named = base.labels.get(PYTHON_LABEL) or base.environment.get(_PYTHON_VARIABLE, "")
    found = _version(named)
    if found is None:
        raise ProjectError(f"the Python version of the base image is unknown: set {TABLE}.python")
    return found[1]
