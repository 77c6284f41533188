"""Import of images by a `ctr` of the test."""

import gzip
import io
import shutil
import subprocess
from pathlib import Path

import pytest

from sampan.node.cri.image_import import ImportFailed, import_images

CTR = """#!/bin/sh
echo "$@" >> {folder}/calls
case "$*" in
  *" list")
    echo "REF TYPE DIGEST SIZE"
    echo "registry.test/old:1 application/json sha256:aa 1"
    echo "sha256:aa application/json sha256:aa 1"
    test -e {folder}/content && echo "registry.test/new:1 application/json sha256:bb 1" ;;
  *" import -")
    cat > {folder}/content
    grep -q fault {folder}/content && {{ echo "ctr: unrecognized image format" >&2; exit 1; }}
    echo "unpacking registry.test/old:1 (sha256:aa)...done" ;;
esac
exit 0
"""
TEXT = b"archive " * 100_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a `ctr` on PATH that writes its calls and the content into the directory."""
    (tmp_path / "ctr").write_text(CTR.format(folder=tmp_path))
    (tmp_path / "ctr").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def imported(content: bytes) -> list[str]:
    """Import an archive with this content."""
    return import_images(io.BufferedReader(io.BytesIO(content)), "/run/c.sock")


def test_new_and_repeated_images_are_imported_and_pinned(folder: Path) -> None:
    assert imported(TEXT) == ["registry.test/new:1", "registry.test/old:1"]
    assert (folder / "content").read_bytes() == TEXT
    prefix = "--address /run/c.sock --namespace k8s.io images"
    assert (folder / "calls").read_text().splitlines()[-2:] == [
        f"{prefix} label registry.test/new:1 io.cri-containerd.pinned=pinned",
        f"{prefix} label registry.test/old:1 io.cri-containerd.pinned=pinned",
    ]


def test_an_archive_may_be_compressed_with_gzip(folder: Path) -> None:
    assert imported(gzip.compress(TEXT))
    assert (folder / "content").read_bytes() == TEXT


def test_an_archive_may_be_compressed_with_zstd(folder: Path) -> None:
    if shutil.which("zstd") is None:
        pytest.skip("zstd is not on PATH")
    assert imported(subprocess.run(["zstd", "-c"], input=TEXT, capture_output=True, check=True).stdout)
    assert (folder / "content").read_bytes() == TEXT


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the archive is empty"),
        (b"fault", "unrecognized image format"),
        (gzip.compress(TEXT)[:-10], "cannot read the archive"),
        (gzip.compress(TEXT)[:400] + b"x" * 400, "cannot read the archive"),
    ],
    ids=["empty", "no archive", "cut off", "damaged"],
)
def test_what_is_no_archive_is_refused(folder: Path, content: bytes, message: str) -> None:
    with pytest.raises(ImportFailed, match=message):
        imported(content)


def test_import_without_ctr_on_path_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder / "none"))
    with pytest.raises(ImportFailed, match="ctr is not on PATH"):
        imported(TEXT)
