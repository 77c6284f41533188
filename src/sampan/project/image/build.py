"""`build_image`: the image of a project, for all its platforms. The same input gives the same digest."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from sampan.oci.blob_store import BlobStore
from sampan.oci.descriptor import Descriptor
from sampan.oci.http_exchange import HttpExchange
from sampan.oci.image import ImageOptions, add_image, add_index, blobs_of, manifests_of
from sampan.oci.registry import Registry
from sampan.oci.transfer import Pushed, push
from sampan.project.errors import ProjectError
from sampan.project.image.bases import PYTHON_LABEL, Base, default_base, open_base, pinned
from sampan.project.image.layers import PACKAGE, WHEELS, package_layer, wheels_layer
from sampan.project.image.lock import is_current, write_lock
from sampan.project.image.notes import LayerNotes
from sampan.project.image.settings import ImageSettings, set_base

_OCI: Final = "org.opencontainers.image."
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"

Report = Callable[[str], None]
"""Receives a line about progress."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Choices of one build. `cache`: folder for blobs and layers of earlier builds."""

    cache: Path
    is_locked: bool = False
    """Fail instead of changing the lock or the base."""
    update_lock: bool = False
    update_base: bool = False
    default_python: str = "3.13"


@dataclass(frozen=True, slots=True)
class Built:
    """Image in the store: an index, or the manifest of the only platform."""

    settings: ImageSettings
    root: Descriptor
    store: BlobStore
    base: Base

    async def fetch_all(self) -> None:
        """Put the layers of the base into the store, which an archive needs. Raises `OciError`."""
        for manifest in manifests_of(self.store, self.root):
            for blob in blobs_of(self.store, manifest):
                if blob.digest not in self.store:
                    await self.base.fetch(blob)


async def build_image(settings: ImageSettings, options: BuildOptions, exchange: HttpExchange, report: Report) -> Built:
    """Build the image and return it. Writes the lock and the base's digest if they are not chosen yet.

    Raises `ProjectError`, `OciError`; files of the project are written only after their content is complete.
    """
    store = BlobStore(options.cache / "blobs")
    settings = await _with_base(settings, options, exchange, report)
    notes = LayerNotes(options.cache / "layers", store)
    base = await open_base(settings, store, notes, exchange)
    if not is_current(settings) or options.update_lock:
        if options.is_locked:
            raise ProjectError(f"{settings.lock} does not fit the dependencies: run sampan build --lock")
        report(f"lock     wheels for Python {base.python}")
        write_lock(settings, base.python, upgrade=options.update_lock)
    own = package_layer(store, settings)
    manifests = []
    for platform in settings.platforms:
        report(f"layer    wheels for {platform}")
        wheels = wheels_layer(store, settings, platform, base.python, notes)
        image = base.images[platform]
        described = _options(settings, base, has_path="PATH" in image.environment)
        manifests.append(add_image(store, platform, image, [wheels, own], described))
    root = manifests[0] if len(manifests) == 1 else add_index(store, manifests, _annotations(settings))
    return Built(settings, root, store, base)


async def push_image(built: Built, exchange: HttpExchange) -> Pushed:
    """Push the image under its name. Raises `OciError`."""
    name, base = built.settings.name, built.base.reference
    mount_from = base.repository if base is not None and base.host == name.host else ""
    registry = Registry(exchange, name.host)

    async def fetch(blob: Descriptor) -> None:
        if blob.digest not in built.store:
            await built.base.fetch(blob)

    return await push(registry, name, built.root, built.store, mount_from=mount_from, fetch=fetch)


async def _with_base(
    settings: ImageSettings, options: BuildOptions, exchange: HttpExchange, report: Report
) -> ImageSettings:
    """Return the settings with the digest of the base, which is written to pyproject.toml if it is new."""
    is_local = bool(settings.base) and (settings.root / settings.base).exists()
    if is_local or (settings.base and not options.update_base):
        return settings
    if options.is_locked:
        raise ProjectError("no base image is chosen: run sampan build once without --locked")
    name = settings.base or default_base(settings.python or options.default_python)
    report(f"base     {name.partition('@')[0]}")
    base = await pinned(name, exchange)
    if base != settings.base:
        set_base(settings.root, base)
    return replace(settings, base=base)


def _options(settings: ImageSettings, base: Base, *, has_path: bool) -> ImageOptions:
    environment = {
        **({} if has_path else {"PATH": _PATH}),
        "PYTHONPATH": f"/{PACKAGE}:/{WHEELS}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        **settings.environment,
    }
    labels = {**_annotations(settings), PYTHON_LABEL: base.python, **settings.labels}
    if base.reference is not None:
        labels[f"{_OCI}base.name"] = str(replace(base.reference, digest=""))
        labels[f"{_OCI}base.digest"] = base.reference.digest
    return ImageOptions(
        _created(),
        entrypoint=("python3", "-m", settings.project.package),
        user=f"{settings.user}:{settings.user}",
        working_directory="/",
        environment=environment,
        labels=labels,
    )


def _annotations(settings: ImageSettings) -> dict[str, str]:
    found = {"title": settings.name.repository.rpartition("/")[2], "version": settings.version}
    if settings.description:
        found["description"] = settings.description
    return {f"{_OCI}{name}": value for name, value in found.items()}


def _created() -> str:
    """Return the time of the image: `$SOURCE_DATE_EPOCH`, or 1970, so that it does not change the digest."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "0")
    if not given.isascii() or not given.isdigit() or len(given) > 11:
        raise ProjectError(f"SOURCE_DATE_EPOCH must be seconds since 1970, not {given[:40]!r}")
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(given)))
