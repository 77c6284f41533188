"""Small images for tests."""

from pathlib import Path

from sampan.oci.blob_store import BlobStore
from sampan.oci.descriptor import Descriptor, Platform
from sampan.oci.image import ImageOptions, add_image, add_index
from sampan.oci.layer import LayerFile, add_layer, archive_of
from sampan.oci.layout import LayoutSource, write_archive
from sampan.oci.reference import Reference

CREATED = "2026-11-24T00:00:00+00:00"
AMD64, ARM64 = Platform("amd64"), Platform("arm64")


def new_store(place: Path) -> BlobStore:
    """Return an empty store below a folder."""
    return BlobStore(place / "blobs")


def small_image(store: BlobStore, platform: Platform = AMD64, text: bytes = b"pass\n") -> Descriptor:
    """Add an image with one layer."""
    archive = archive_of([LayerFile("opt/boats/module.py", text)], empty={"data": 65532})
    options = ImageOptions(CREATED, user="65532:65532", environment={"PATH": "/bin"}, labels={"of": "base"})
    return add_image(store, platform, None, [add_layer(store, archive, "pip install")], options)


def small_index(store: BlobStore) -> Descriptor:
    """Add an image for two platforms."""
    return add_index(store, [small_image(store, AMD64), small_image(store, ARM64)])


def base_source(place: Path) -> LayoutSource:
    """Return a layout with an image for two platforms."""
    store = new_store(place / "base")
    write_archive(store, small_index(store), Reference.parse("base:1"), place / "base.tar")
    return LayoutSource(place / "base.tar")
