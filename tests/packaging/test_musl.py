"""Wheels for Linux with musl. Source: the wheel format, PyPA binary-distribution-format."""

import base64
import csv
import hashlib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from scripts.release.musl import musl_wheel

INFO = "sampan-1.dist-info"
FILES = {
    "sampan/__init__.py": "pass\n",
    f"{INFO}/METADATA": "Name: sampan\nRequires-Dist: cryptography>=45\nRequires-Dist: google-re2>=1.1\n\n# Sampan\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/RECORD": "",
}


@pytest.fixture
def musl(tmp_path: Path) -> Path:
    source = tmp_path / "sampan-1-py3-none-any.whl"
    with zipfile.ZipFile(source, "w") as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    return musl_wheel(source)


def test_the_copy_has_the_tags_of_musl(musl: Path) -> None:
    assert musl.name == "sampan-1-py3-none-musllinux_1_2_aarch64.musllinux_1_2_x86_64.whl"
    wheel = Parser().parsestr(zipfile.ZipFile(musl).read(f"{INFO}/WHEEL").decode())
    assert wheel.get_all("Tag") == ["py3-none-musllinux_1_2_aarch64", "py3-none-musllinux_1_2_x86_64"]


def test_the_copy_does_not_require_re2(musl: Path) -> None:
    metadata = Parser().parsestr(zipfile.ZipFile(musl).read(f"{INFO}/METADATA").decode())
    assert metadata.get_all("Requires-Dist") == ["cryptography>=45"]


def test_the_record_of_the_copy_fits_its_files(musl: Path) -> None:
    archive = zipfile.ZipFile(musl)
    rows = {row[0]: row[1:] for row in csv.reader(archive.read(f"{INFO}/RECORD").decode().splitlines())}
    assert rows.pop(f"{INFO}/RECORD") == ["", ""]
    assert set(rows) == {name for name in FILES if not name.endswith("RECORD")}
    for name, (found, size) in rows.items():
        content = archive.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        assert (found, size) == (f"sha256={digest}", str(len(content)))
