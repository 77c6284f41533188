"""Version of the suite that is built, and the runtimes and images on which tests run."""

import subprocess
from pathlib import Path

import pytest

from tests.e2e.conformance import binaries, building, busybox, images, runtimes


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Directory with all that a run of 1.36.5 needs, on a machine that lacks nothing."""
    monkeypatch.setattr(building, "missing", lambda also: "")
    programs = tmp_path / f"programs-{binaries.key('1.36.5')}"
    used = tmp_path / f"runtimes-{runtimes.key()}"
    for directory, names in ((programs, binaries.PROGRAMS), (used, runtimes.PROGRAMS)):
        directory.mkdir()
        for name in names:
            (directory / name).touch()
    (tmp_path / f"busybox-{busybox.key()}").touch()
    for keys in ([], [busybox.key()]):
        (tmp_path / f"images-{images.key(binaries.key('1.36.5'), *keys)}.tar").touch()
    return tmp_path


def test_programs_of_each_version_are_separate() -> None:
    assert binaries.key("1.36.5") != binaries.key() == binaries.key(binaries.VERSION)


def test_whole_run_has_built_runtimes_and_a_real_busybox(found: Path) -> None:
    built = building.build("1.36.5", found, print, is_sample=False)
    assert built.runtimes == found / f"runtimes-{runtimes.key()}"
    assert built.archive.name == f"images-{images.key(binaries.key('1.36.5'), busybox.key())}.tar"
    assert built.version == "1.36.5"


def test_sample_has_the_runtimes_of_the_machine(found: Path) -> None:
    built = building.build("1.36.5", found, print, is_sample=True)
    assert built.runtimes is None
    assert built.archive.name == f"images-{images.key(binaries.key('1.36.5'))}.tar"


def test_suite_that_was_built_before_replaces_only_the_suite(found: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "VERSION", "1.36.5")
    given = found / "e2e.test"
    given.touch()
    built = building.build(str(given), found, print, is_sample=True)
    assert (built.suite, built.kubectl.parent.name) == (given, f"programs-{binaries.key('1.36.5')}")


def test_newest_patch_is_the_one_that_the_module_proxy_lists(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    go = tmp_path / "go"
    go.write_text('#!/bin/sh\ncase "$*" in *GOVERSION*) echo go1.26.8 ;; *kubernetes@v1.36) echo v1.36.5 ;; esac\n')
    go.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert building.version(building.NEWEST) == "1.36.5"


def test_busybox_layer_has_one_program_under_all_its_names(tmp_path: Path) -> None:
    program = tmp_path / "built"
    program.write_text("#!/bin/sh\nprintf 'ash\\nbusybox\\nsh\\n'\n")
    program.chmod(0o755)
    manifest = tmp_path / "test" / "utils" / "image" / "manifest.go"
    manifest.parent.mkdir(parents=True)
    manifest.write_text('configs[BusyBox] = Config{list.PromoterE2eRegistry, "busybox", "1.37.0-1"}\n')
    layers = images._Layers(tmp_path, tmp_path, tmp_path, program)
    assert layers.tags("busybox") == ["1.37.0-1"]
    listed = subprocess.run(["tar", "tvf", layers.busybox(program)], check=True, capture_output=True, text=True).stdout
    assert "bin/ash -> busybox" in listed
    assert "bin/sh -> busybox" in listed
