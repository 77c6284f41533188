"""Directory of programs and images: a hash of their sources, and builds that do not disturb each other."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.conformance import binaries, cache, images


def test_key_of_programs_depends_on_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    found = binaries.key()
    monkeypatch.setattr(binaries, "_PACKAGES", {**binaries._PACKAGES, "kubectl": "k8s.io/kubectl"})
    assert binaries.key() != found


def test_key_of_programs_depends_on_the_source_of_pause(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = binaries.key()
    changed = tmp_path / "main.go"
    changed.write_bytes(binaries._PAUSE.read_bytes())
    monkeypatch.setattr(binaries, "_PAUSE", changed)
    assert binaries.key() == found
    changed.write_text("package main")
    assert binaries.key() != found


def test_key_of_images_depends_on_the_programs() -> None:
    assert images.key("one") == images.key("one") != images.key("two")


def test_key_separates_its_sources() -> None:
    assert cache.key("ab", "c") != cache.key("a", "bc")


def test_directory_is_in_the_cache_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.default("1.36.0") == tmp_path / "sampan-conformance" / "1.36.0"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache.default("1.36.0") == tmp_path / "home" / ".cache" / "sampan-conformance" / "1.36.0"


def test_failed_build_leaves_nothing(tmp_path: Path) -> None:
    def build() -> None:
        with cache.unfinished(tmp_path) as found:
            (found / "program").touch()
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        build()
    assert list(tmp_path.iterdir()) == []


def test_file_of_a_killed_build_is_removed_by_the_next_one(tmp_path: Path) -> None:
    left = tmp_path / ".unfinished-1"
    left.mkdir()
    with cache.locked(tmp_path, lambda text: None):
        assert not left.exists()


def test_second_build_waits_for_the_first(tmp_path: Path) -> None:
    order: list[str] = []
    waits = threading.Event()

    def second() -> None:
        with cache.locked(tmp_path, lambda text: waits.set()):
            order.append("second")

    with ThreadPoolExecutor() as pool:
        with cache.locked(tmp_path, lambda text: None):
            done = pool.submit(second)
            assert waits.wait(30)
            order.append("first")
        done.result(30)
    assert order == ["first", "second"]
