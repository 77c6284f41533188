"""Images: base image, own layers and configuration give a manifest; the manifests of all platforms give an index.

The same input gives the same bytes.

Source: image-spec manifest.md, config.md, image-index.md (v1.1).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from sampan.oci.blob_store import BlobStore
from sampan.oci.descriptor import (
    CONFIG,
    INDEX,
    INDEXES,
    LAYER,
    MANIFEST,
    Descriptor,
    Platform,
    from_bytes,
    to_bytes,
)
from sampan.oci.errors import OciError
from sampan.oci.layer import Layer

_LAYERS_MAX: Final = 127
"""Maximum number of layers of an image: overlayfs in older kernels mounts no more."""
_LAYER_TYPES: Final = frozenset(
    {LAYER, "application/vnd.oci.image.layer.v1.tar", "application/vnd.oci.image.layer.v1.tar+zstd"}
)


class ImageSource(Protocol):
    """Place that has an image: a registry or a layout."""

    async def root(self) -> tuple[Descriptor, bytes]:
        """Return the image's manifest or index. Raises `OciError`."""
        ...

    async def manifest(self, descriptor: Descriptor) -> bytes:
        """Return a manifest. Raises `OciError`."""
        ...

    async def fetch(self, descriptor: Descriptor, store: BlobStore) -> None:
        """Copy a blob into a store. Raises `OciError`."""
        ...


@dataclass(frozen=True, slots=True)
class BaseImage:
    """Image of one platform that others are built on. `config` is the content of its configuration blob."""

    platform: Platform
    config: Mapping[str, Any]
    layers: tuple[Descriptor, ...]

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of its containers."""
        pairs = (str(line).partition("=") for line in self._own.get("Env") or [])
        return {name: value for name, _, value in pairs}

    @property
    def labels(self) -> dict[str, str]:
        """Labels of its containers."""
        return {str(name): str(value) for name, value in (self._own.get("Labels") or {}).items()}

    @property
    def _own(self) -> Mapping[str, Any]:
        return self.config.get("config") or {}


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """Properties of an image besides its layers. `created`: RFC 3339."""

    created: str
    entrypoint: Sequence[str] = ()
    command: Sequence[str] = ()
    user: str = ""
    working_directory: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables in addition to those of the base."""
    labels: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the config's `config`, such as `ExposedPorts`."""


async def read_base(source: ImageSource, platform: Platform, store: BlobStore) -> BaseImage:
    """Return the image of a platform, with its configuration; layers are not fetched. Raises `OciError`."""
    found, content = await source.root()
    if found.media_type in INDEXES:
        entry = of_platform(content, platform)
        content = await source.manifest(entry)
    manifest = from_bytes(content, "the manifest of the base image")
    config = Descriptor.parse(manifest.get("config"))
    await source.fetch(config, store)
    described = from_bytes(store.read(config.digest), "the configuration of the base image")
    own = Platform(str(described.get("architecture", "")), str(described.get("os", "")))
    if own != platform:
        raise OciError(f"the base image is for {own}, not for {platform}: name one for {platform}, or an index")
    layers = tuple(Descriptor.parse(each) for each in manifest.get("layers") or [])
    for layer in layers:
        if layer.media_type not in _LAYER_TYPES:
            raise OciError(f"the base image has a layer of the unknown type {layer.media_type!r}")
    if len(layers) != len(_diff_ids(described)):
        raise OciError("the base image's configuration and manifest differ in their number of layers")
    return BaseImage(platform, described, layers)


def of_platform(index: bytes, platform: Platform) -> Descriptor:
    """Return the manifest of a platform in an index. Raises `OciError`, which names the platforms that there are."""
    entries = [Descriptor.parse(each) for each in from_bytes(index, "the index").get("manifests") or []]
    for entry in entries:
        if entry.platform == platform:
            return entry
    # One manifest without a platform, as in a layout of a tool that does not set it.
    if len(entries) == 1 and entries[0].platform is None:
        return entries[0]
    known = sorted({str(entry.platform) for entry in entries if entry.platform and entry.platform.os != "unknown"})
    raise OciError(f"the base image has no {platform}, only {', '.join(known) or 'no platform'}")


def add_image(
    store: BlobStore, platform: Platform, base: BaseImage | None, layers: Sequence[Layer], options: ImageOptions
) -> Descriptor:
    """Add configuration and manifest of an image to a store, and return the manifest. Raises `OciError`."""
    base_layers = list(base.layers) if base else []
    if len(base_layers) + len(layers) > _LAYERS_MAX:
        raise OciError(f"the image has over {_LAYERS_MAX} layers")
    config = store.add(to_bytes(_config(platform, base, layers, options)), CONFIG)
    all_layers = [*base_layers, *(layer.descriptor for layer in layers)]
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config.to_json(),
        "layers": [Descriptor(each.media_type, each.digest, each.size).to_json() for each in all_layers],
        "annotations": {key: value for key, value in options.labels.items() if key.startswith("org.opencontainers.")},
    }
    found = store.add(to_bytes({key: value for key, value in manifest.items() if value}), MANIFEST)
    return Descriptor(found.media_type, found.digest, found.size, platform)


def add_index(store: BlobStore, manifests: Iterable[Descriptor], annotations: Mapping[str, str] = {}) -> Descriptor:
    """Add the index of the images of all platforms to a store."""
    index: dict[str, Any] = {
        "schemaVersion": 2,
        "mediaType": INDEX,
        "manifests": [each.to_json() for each in manifests],
    }
    if annotations:
        index["annotations"] = dict(annotations)
    return store.add(to_bytes(index), INDEX)


def manifests_of(store: BlobStore, root: Descriptor) -> list[Descriptor]:
    """Return the manifests below an index in a store; a manifest itself."""
    if root.media_type not in INDEXES:
        return [root]
    content = from_bytes(store.read(root.digest), "the index")
    return [Descriptor.parse(each) for each in content.get("manifests") or []]


def blobs_of(store: BlobStore, manifest: Descriptor) -> list[Descriptor]:
    """Return configuration and layers of a manifest in a store, in this order."""
    content = from_bytes(store.read(manifest.digest), "the manifest")
    return [Descriptor.parse(content.get("config")), *map(Descriptor.parse, content.get("layers") or [])]


def _config(
    platform: Platform, base: BaseImage | None, layers: Sequence[Layer], options: ImageOptions
) -> dict[str, Any]:
    below: Mapping[str, Any] = base.config if base else {}
    own = dict(below.get("config") or {})
    environment = {**(base.environment if base else {}), **options.environment}
    labels = {**(base.labels if base else {}), **options.labels}
    changed: dict[str, Any] = {
        "Entrypoint": list(options.entrypoint),
        # The base's command would become arguments of this entry point.
        "Cmd": list(options.command),
        "User": options.user,
        "WorkingDir": options.working_directory,
        "Env": [f"{name}={value}" for name, value in environment.items()],
        "Labels": labels,
        **options.more,
    }
    own.update({key: value for key, value in changed.items() if value})
    if options.entrypoint and not options.command:
        own.pop("Cmd", None)
    history = [{"created": options.created, "created_by": layer.made_by} for layer in layers]
    unchanged = {key: below[key] for key in ("variant", "os.version", "os.features") if key in below}
    return {
        **unchanged,
        "created": options.created,
        "architecture": platform.architecture,
        "os": platform.os,
        "config": own,
        "rootfs": {"type": "layers", "diff_ids": [*_diff_ids(below), *(layer.diff_id for layer in layers)]},
        "history": [*(below.get("history") or []), *history],
    }


def _diff_ids(config: Mapping[str, Any]) -> list[str]:
    return [str(each) for each in (config.get("rootfs") or {}).get("diff_ids") or []]
