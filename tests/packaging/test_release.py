"""Artefacts of a release: the image layout, the section of the changelog, the systemd unit.

Source: image-spec image-layout.md, manifest.md, config.md (v1.1).
"""

import configparser
import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from scripts.release.changes import section_of
from scripts.release.image import ImageError, python_of
from scripts.release.oci import Image, Layer, archive_of, write_image

from sampan import __version__

ROOT = Path(__file__).parents[2]


@pytest.fixture
def image(tmp_path: Path) -> Image:
    package = tmp_path / "package"
    package.mkdir()
    (package / "module.py").write_text("pass\n")
    layer = Layer.of(archive_of(package, "opt/sampan", {"data": 65532}), "pip install")
    return Image("sampan:1", "amd64", "2026-11-24T00:00:00+00:00", [layer], {"User": "65532:65532"})


def blobs_of(file: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the index of a layout, and its blobs by digest."""
    with tarfile.open(file) as archive:
        members = {}
        for member in archive:
            content = archive.extractfile(member)
            assert content is not None
            members[member.name] = content.read()
    assert json.loads(members.pop("oci-layout")) == {"imageLayoutVersion": "1.0.0"}
    index = json.loads(members.pop("index.json"))
    return index, {name.removeprefix("blobs/").replace("/", ":"): content for name, content in members.items()}


def test_every_blob_of_an_image_has_its_digest_and_size(image: Image, tmp_path: Path) -> None:
    digest = write_image(image, tmp_path / "image.tar")
    index, blobs = blobs_of(tmp_path / "image.tar")
    [entry] = index["manifests"]
    manifest = json.loads(blobs[digest])
    assert entry["digest"] == digest
    for part in (entry, manifest["config"], *manifest["layers"]):
        content = blobs[part["digest"]]
        assert (part["size"], part["digest"]) == (len(content), f"sha256:{hashlib.sha256(content).hexdigest()}")


def test_the_config_of_an_image_names_its_uncompressed_layers(image: Image, tmp_path: Path) -> None:
    digest = write_image(image, tmp_path / "image.tar")
    _, blobs = blobs_of(tmp_path / "image.tar")
    manifest = json.loads(blobs[digest])
    config = json.loads(blobs[manifest["config"]["digest"]])
    [layer] = manifest["layers"]
    archive = gzip.decompress(blobs[layer["digest"]])
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(archive).hexdigest()}"]
    assert (config["architecture"], config["os"], config["config"]) == ("amd64", "linux", {"User": "65532:65532"})
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        owners = {member.name: (member.uid, oct(member.mode)) for member in files}
    assert owners == {"data": (65532, "0o700"), "opt/sampan": (0, "0o755"), "opt/sampan/module.py": (0, "0o644")}


def test_the_same_image_has_the_same_bytes(image: Image, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_image(image, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_version_of_python_is_read_from_a_root_file_system(tmp_path: Path) -> None:
    base = tmp_path / "base.tar"
    with tarfile.open(base, "w") as archive:
        link = tarfile.TarInfo("./usr/bin/python3")
        link.type, link.linkname = tarfile.SYMTYPE, "python3.13"
        archive.addfile(link)
    assert python_of(base) == "3.13"


def test_a_root_file_system_without_python_is_refused(tmp_path: Path) -> None:
    tarfile.open(tmp_path / "base.tar", "w").close()
    with pytest.raises(ImageError, match="has no link usr/bin/python3"):
        python_of(tmp_path / "base.tar")


def test_the_changelog_has_a_section_for_this_version() -> None:
    section = section_of((ROOT / "CHANGELOG.md").read_text(), __version__)
    assert section.startswith(f"## {__version__}")
    assert section.count("\n## ") == 0


def test_a_version_without_a_section_is_refused() -> None:
    with pytest.raises(LookupError, match=r"has no section for 9\.9\.9.*it has 0\.1\.0$"):
        section_of("# Changelog\n\n## 0.1.0\n- one\n", "9.9.9")


def test_the_unit_keeps_data_in_its_state_directory() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # keeps the case of the keys, as documented
    unit.read(ROOT / "packaging" / "systemd" / "sampan.service")
    service = unit["Service"]
    assert service["ExecStart"].split()[:4] == ["/opt/sampan/bin/sampan", "up", "--data", "${STATE_DIRECTORY}"]
    assert (service["StateDirectory"], service["StateDirectoryMode"]) == ("sampan", "0700")
