"""Images and layouts.

Source: image-spec image-layout.md, manifest.md, config.md (v1.1).
"""

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from sampan.oci.descriptor import Platform
from sampan.oci.errors import OciError
from sampan.oci.image import ImageOptions, add_image, manifests_of, read_base
from sampan.oci.layer import LayerFile, add_layer, archive_of, files_below
from sampan.oci.layout import LayoutSource, write_archive, write_layout
from sampan.oci.reference import Reference
from tests.oci.images import AMD64, ARM64, CREATED, base_source, new_store, small_image, small_index

NAME = Reference.parse("registry.test/boats:1")


def content_of(file: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the index of a layout in a tar file, and its blobs by digest."""
    with tarfile.open(file) as archive:
        members = {}
        for member in archive:
            content = archive.extractfile(member)
            assert content is not None
            members[member.name] = content.read()
    assert json.loads(members["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    blobs = {
        name.removeprefix("blobs/").replace("/", ":"): content
        for name, content in members.items()
        if name.startswith("blobs/")
    }
    return json.loads(members["index.json"]), blobs


def test_every_blob_of_an_image_has_its_digest_and_size(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    root = small_index(store)
    write_archive(store, root, NAME, tmp_path / "image.tar")
    index, blobs = content_of(tmp_path / "image.tar")
    [entry] = index["manifests"]
    assert entry["digest"] == root.digest
    manifests = json.loads(blobs[root.digest])["manifests"]
    parts = [entry, *manifests]
    for each in manifests:
        manifest = json.loads(blobs[each["digest"]])
        parts += [manifest["config"], *manifest["layers"]]
    assert len(parts) == 7
    for part in parts:
        content = blobs[part["digest"]]
        assert (part["size"], part["digest"]) == (len(content), f"sha256:{hashlib.sha256(content).hexdigest()}")


def test_the_config_of_an_image_names_its_uncompressed_layers(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    manifest = json.loads(store.read(small_image(store).digest))
    config = json.loads(store.read(manifest["config"]["digest"]))
    [layer] = manifest["layers"]
    archive = gzip.decompress(store.read(layer["digest"]))
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(archive).hexdigest()}"]
    assert (config["architecture"], config["os"], config["config"]["User"]) == ("amd64", "linux", "65532:65532")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        owners = {member.name: (member.uid, oct(member.mode)) for member in files}
    folders = {"opt": (0, "0o755"), "opt/boats": (0, "0o755")}
    assert owners == {"data": (65532, "0o700"), **folders, "opt/boats/module.py": (0, "0o644")}


def test_the_same_image_has_the_same_bytes_whatever_the_order_of_its_files(tmp_path: Path) -> None:
    files = [LayerFile("b/two", b"2"), LayerFile("a/one", b"1", is_executable=True)]
    assert archive_of(files) == archive_of(reversed(files))
    for name in ("one", "two"):
        store = new_store(tmp_path / name)
        write_archive(store, small_index(store), NAME, tmp_path / f"{name}.tar")
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()


@pytest.mark.parametrize("path", ["/etc/passwd", "a/../../etc/passwd", "", "."])
def test_a_file_outside_the_image_is_refused(path: str) -> None:
    with pytest.raises(OciError, match="outside the image"):
        archive_of([LayerFile(path, b"")])


def test_two_files_with_one_path_are_refused() -> None:
    with pytest.raises(OciError, match="two files of the image have the path /a/b"):
        archive_of([LayerFile("a/b", b"1"), LayerFile("a/b", b"2")])


def test_a_folder_becomes_files_with_their_permissions(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "run").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "run").chmod(0o755)
    (tmp_path / "note").write_text("x")
    assert files_below(tmp_path, "app") == [
        LayerFile("app/bin/run", b"#!/bin/sh\n", True),
        LayerFile("app/note", b"x", False),
    ]


@pytest.mark.parametrize("form", ["folder", "archive"])
async def test_a_layout_can_be_read_as_a_base(form: str, tmp_path: Path) -> None:
    store = new_store(tmp_path)
    root = small_index(store)
    target = tmp_path / "layout"
    (write_layout if form == "folder" else write_archive)(store, root, NAME, target)
    other = new_store(tmp_path / "other")
    base = await read_base(LayoutSource(target), ARM64, other)
    assert (base.platform, base.environment, base.labels) == (ARM64, {"PATH": "/bin"}, {"of": "base"})
    await LayoutSource(target).fetch(base.layers[0], other)
    assert other.read(base.layers[0].digest) == store.read(base.layers[0].digest)


async def test_an_image_has_the_layers_of_its_base_and_its_own(tmp_path: Path) -> None:
    source, store = base_source(tmp_path), new_store(tmp_path)
    base = await read_base(source, AMD64, store)
    own = add_layer(store, archive_of([LayerFile("app/main.py", b"")]), "the app")
    options = ImageOptions(CREATED, entrypoint=["python3"], environment={"APP": "1"}, labels={"own": "x"})
    manifest = json.loads(store.read(add_image(store, AMD64, base, [own], options).digest))
    config = json.loads(store.read(manifest["config"]["digest"]))
    assert [each["digest"] for each in manifest["layers"]] == [base.layers[0].digest, own.descriptor.digest]
    assert config["rootfs"]["diff_ids"][1] == own.diff_id
    assert [each["created_by"] for each in config["history"]] == ["pip install", "the app"]
    assert config["config"]["Env"] == ["PATH=/bin", "APP=1"]
    assert config["config"]["Labels"] == {"of": "base", "own": "x"}
    assert (config["config"]["Entrypoint"], config["config"]["User"]) == (["python3"], "65532:65532")


async def test_a_platform_that_the_base_lacks_is_named_with_those_that_it_has(tmp_path: Path) -> None:
    with pytest.raises(OciError, match="has no linux/riscv64, only linux/amd64, linux/arm64"):
        await read_base(base_source(tmp_path), Platform("riscv64"), new_store(tmp_path))


async def test_a_base_for_another_platform_is_refused(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    write_layout(store, small_image(store), NAME, tmp_path / "base")
    with pytest.raises(OciError, match="the base image is for linux/amd64, not for linux/arm64"):
        await read_base(LayoutSource(tmp_path / "base"), ARM64, store)


async def test_a_blob_that_was_changed_is_refused(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    root = small_image(store)
    write_layout(store, root, NAME, tmp_path / "base")
    [_, layer] = [json.loads(store.read(root.digest))[key] for key in ("config", "layers")]
    blob = tmp_path / "base" / "blobs" / layer[0]["digest"].replace(":", "/")
    blob.write_bytes(b"x" * blob.stat().st_size)
    other = new_store(tmp_path / "other")
    base = await read_base(LayoutSource(tmp_path / "base"), AMD64, other)
    with pytest.raises(OciError, match="expected blob sha256"):
        await LayoutSource(tmp_path / "base").fetch(base.layers[0], other)
    assert base.layers[0].digest not in other


@pytest.mark.parametrize("content", [None, b"", b"no tar archive"])
def test_a_file_without_a_layout_is_refused(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "base").write_bytes(content)
    with pytest.raises(OciError, match=r"no image layout|no tar archive"):
        LayoutSource(tmp_path / "base")


def test_older_docker_finds_the_image_of_this_machine(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    write_archive(store, small_index(store), NAME, tmp_path / "image.tar")
    with tarfile.open(tmp_path / "image.tar") as archive:
        content = archive.extractfile("manifest.json")
        assert content is not None
        [entry] = json.loads(content.read())
        assert entry["RepoTags"] == ["registry.test/boats:1"]
        assert {entry["Config"], *entry["Layers"]} <= set(archive.getnames())


def test_an_index_lists_the_manifest_of_each_platform(tmp_path: Path) -> None:
    store = new_store(tmp_path)
    assert [each.platform for each in manifests_of(store, small_index(store))] == [AMD64, ARM64]
