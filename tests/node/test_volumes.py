"""Files of volumes, and mounts of containers."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.node.references import Missing
from sampan.node.views.container import VolumeMount
from sampan.node.views.volume_sources import DownwardApi, DownwardFile, FieldPath, KeyToPath, Projection
from sampan.node.volumes.atomic_writer import File, write_files
from sampan.node.volumes.host_path import prepare_host_path
from sampan.node.volumes.mounts import MountedVolume, MountError, mounts_of
from sampan.node.volumes.payload import downward_files, key_files
from sampan.node.volumes.sub_path_mounts import SubPathMounts
from tests.node.scripted import detailed, place_of
from tests.properties import examples


def shown(volume: Path) -> dict[str, bytes]:
    """Return the files that a user sees."""
    found = {}
    for top in volume.iterdir():
        if not top.name.startswith(".."):
            for path in [top] if top.is_file() else top.rglob("*"):
                if path.is_file():
                    found[path.relative_to(volume).as_posix()] = path.read_bytes()
    return found


_names = st.sampled_from(["a", "b", "dir/a", "dir/b", "dir/deep/c", "other"])
_payloads = st.dictionaries(_names, st.builds(File, st.binary(max_size=5), st.sampled_from([0o644, 0o400])))


@settings(max_examples=examples(30))
@given(st.lists(_payloads, min_size=1, max_size=4))
def test_volume_has_exactly_the_files_of_the_last_write(payloads: list[dict[str, File]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        volume = Path(directory, "volume")
        for payload in payloads:
            write_files(volume, payload)
            assert not write_files(volume, payload)
            assert shown(volume) == {name: file.data for name, file in payload.items()}
            assert len([each for each in volume.iterdir() if each.name.startswith("..2")]) == 1


def test_reader_through_the_link_sees_all_files_change_at_once(tmp_path: Path) -> None:
    write_files(tmp_path, {"a": File(b"1"), "b": File(b"1", 0o600)})
    assert os.readlink(tmp_path / "a") == "..data/a"
    before = os.readlink(tmp_path / "..data")
    assert write_files(tmp_path, {"a": File(b"2"), "b": File(b"1", 0o600)})
    assert os.readlink(tmp_path / "..data") != before
    assert not (tmp_path / before).exists()
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", "..x", ""])
def test_files_cannot_leave_their_volume(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="invalid path"):
        write_files(tmp_path / "volume", {path: File(b"")})
    assert not (tmp_path / "x").exists()


def test_listed_keys_become_files() -> None:
    source = Projection(items=[KeyToPath("k", "dir/file", 0o400)])
    assert key_files(source, {"k": b"v", "other": b""}, 0o644, "no key") == {"dir/file": File(b"v", 0o400)}
    with pytest.raises(Missing, match="no key: k"):
        key_files(source, {}, 0o644, "no key")
    source.optional = True
    assert key_files(source, {}, 0o644, "no key") == {}


def test_fields_of_the_pod_become_files() -> None:
    place = place_of(detailed({}, metadata={"labels": {"app": "shop"}}))
    source = DownwardApi([DownwardFile("labels", FieldPath("metadata.labels"))])
    assert downward_files(place, source, 0o600) == {"labels": File(b'app="shop"', 0o600)}


@pytest.mark.parametrize(
    ("type", "name", "text"),
    [
        ("Directory", "file", "is not a directory"),
        ("Directory", "nothing", "is not a directory"),
        ("DirectoryOrCreate", "file", "is not a directory"),
        ("File", "directory", "is not a file"),
        ("FileOrCreate", "directory", "is not a file"),
        ("Socket", "file", "is not a socket file"),
        ("Other", "file", "Other is an invalid volume type"),
    ],
)
def test_path_of_the_wrong_type_is_refused(tmp_path: Path, type: str, name: str, text: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "directory").mkdir()
    with pytest.raises(ValueError, match=text):
        prepare_host_path(tmp_path / name, type)


@pytest.mark.parametrize(("type", "is_file"), [("", False), ("DirectoryOrCreate", False), ("FileOrCreate", True)])
def test_missing_path_is_created(tmp_path: Path, type: str, is_file: bool) -> None:
    prepare_host_path(tmp_path / "new", type)
    assert (tmp_path / "new").is_file() == is_file
    assert (tmp_path / "new").is_dir() != is_file


def mounted(volume: MountedVolume, parts: Path, env: dict[str, str] | None = None, **mount: Any) -> Path:
    container = detailed({}).spec.containers[0]
    container.volume_mounts = [VolumeMount("v", "/m", **mount)]
    (found,) = mounts_of(container, {"v": volume}, env or {}, SubPathMounts(parts))
    return Path(found.host_path)


def test_missing_part_of_a_volume_is_created(tmp_path: Path) -> None:
    volume = MountedVolume(tmp_path / "volume")
    volume.path.mkdir()
    path = mounted(volume, tmp_path / "c", {"POD": "web"}, sub_path_expr="logs/$(POD)")
    assert path == volume.path / "logs" / "web"
    assert path.is_dir()


@pytest.mark.parametrize(
    ("mount", "text"),
    [
        ({"sub_path": "link/x"}, "failed to prepare subPath"),
        ({"sub_path": "dangling"}, "failed to prepare subPath"),
        ({"sub_path": "../x"}, "must not contain"),
        ({"sub_path_expr": "$(UP)"}, "must not contain"),
        ({"sub_path_expr": "$(ROOT)"}, "must not be an absolute path"),
        ({"sub_path_expr": "$(NONE)"}, "missing value for NONE"),
    ],
)
def test_part_of_a_volume_cannot_lead_out_of_it(tmp_path: Path, mount: dict[str, str], text: str) -> None:
    volume = MountedVolume(tmp_path / "volume")
    volume.path.mkdir()
    (volume.path / "link").symlink_to(tmp_path)
    (volume.path / "dangling").symlink_to("/nowhere/at/all")
    with pytest.raises(MountError, match=text):
        mounted(volume, tmp_path / "c", {"UP": "a/../..", "ROOT": "/etc"}, **mount)


def test_part_of_written_files_does_not_change(tmp_path: Path) -> None:
    volume = MountedVolume(tmp_path / "volume", read_only=True, is_written=True)
    write_files(volume.path, {"a": File(b"1")})
    path = mounted(volume, tmp_path / "c", sub_path="a")
    write_files(volume.path, {"a": File(b"2")})
    assert path.read_bytes() == b"1"


def test_files_of_an_image_are_mounted_by_the_runtime(tmp_path: Path) -> None:
    container = detailed({}).spec.containers[0]
    container.volume_mounts = [VolumeMount("v", "/data", sub_path="dir")]
    (found,) = mounts_of(container, {"v": MountedVolume(Path(), image="files:1")}, {}, SubPathMounts(tmp_path))
    assert (found.image, found.image_sub_path) == ("files:1", "dir")
    assert (found.container_path, found.read_only) == ("/data", True)
