"""Artefacts of a release: the image's root file system, the section of the changelog, the systemd unit."""

import configparser
import tarfile
from pathlib import Path

import pytest
from scripts.release.changes import section_of
from scripts.release.image import ImageError, python_of

from sampan import __version__

ROOT = Path(__file__).parents[2]


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


def test_unit_of_a_node_keeps_its_containers_running() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # keeps the case of the keys, as documented
    unit.read(ROOT / "packaging" / "systemd" / "sampan-node.service")
    service = unit["Service"]
    words = service["ExecStart"].split()
    assert words[:2] == ["/opt/sampan/bin/sampan", "join"]
    assert words[-3:] == ["--root", "${STATE_DIRECTORY}", "$SAMPAN_JOIN"]
    assert (service["StateDirectory"], service["KillMode"]) == ("sampan-node", "process")


def test_the_unit_keeps_data_in_its_state_directory() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # keeps the case of the keys, as documented
    unit.read(ROOT / "packaging" / "systemd" / "sampan.service")
    service = unit["Service"]
    assert service["ExecStart"].split()[:4] == ["/opt/sampan/bin/sampan", "up", "--data", "${STATE_DIRECTORY}"]
    assert (service["StateDirectory"], service["StateDirectoryMode"]) == ("sampan", "0700")
