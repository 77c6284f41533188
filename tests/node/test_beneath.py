"""Files below a directory that others can change."""

import os
import stat
from pathlib import Path

import pytest

from sampan.node.beneath import (
    bind,
    detach_all_below,
    link_to,
    make_directories,
    mounts_below,
    open_beneath,
    open_directory,
    open_file,
    opened,
    opening,
    remove_tree,
    walk,
)

DEEP = 1500


@pytest.fixture(params=["openat2", "component by component"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Directory with links, for both ways to open files in it."""
    if request.param != "openat2":
        monkeypatch.setattr(opening, "has_openat2", lambda: False)
    top = tmp_path / "top"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "file").write_text("text")
    (top / "a" / "up").symlink_to("../a/b")
    (top / "out").symlink_to("../outside")
    (top / "absolute").symlink_to(top / "a")
    (top / "loop").symlink_to("loop")
    (top / "magic").symlink_to("/proc/self/root")
    (tmp_path / "outside").mkdir()
    return top


def read(top: Path, path: str, *, links: bool = True) -> str:
    with opened(open_directory(top)) as root, opened(open_beneath(root, path, links=links)) as fd:
        return os.path.relpath(os.readlink(link_to(fd)), top)


@pytest.mark.parametrize(
    ("path", "found"), [("a/b", "a/b"), ("a/up", "a/b"), ("a/up/../file", "a/file"), ("./a//b/", "a/b"), ("", ".")]
)
def test_path_below_a_directory_is_opened(root: Path, path: str, found: str) -> None:
    assert read(root, path) == found


@pytest.mark.parametrize(
    "path", ["..", "a/../..", "out", "out/x", "absolute", "absolute/b", "loop", "magic/etc", "a/x"]
)
def test_path_that_leaves_a_directory_is_not_opened(root: Path, path: str) -> None:
    with pytest.raises(OSError, match=r"."):
        read(root, path)


def test_link_is_followed_only_on_request(root: Path) -> None:
    with pytest.raises(OSError, match="symbolic links"):
        read(root, "a/up", links=False)
    assert read(root, "a/b", links=False) == "a/b"


def test_last_new_directory_has_the_mode(root: Path) -> None:
    with opened(open_directory(root)) as top, opened(make_directories(top, "a/up/new/deep", 0o2777)) as fd:
        assert stat.S_IMODE(os.fstat(fd).st_mode) == 0o2777
    assert (root / "a" / "b" / "new" / "deep").is_dir()


@pytest.mark.parametrize("path", ["out/new", "absolute/new", "a/file/new", "dangling"])
def test_directories_are_not_made_outside(root: Path, path: str) -> None:
    (root / "dangling").symlink_to("nothing")
    with opened(open_directory(root)) as top, pytest.raises(OSError, match=r"."):
        make_directories(top, path, 0o755)
    assert list((root.parent / "outside").iterdir()) == []
    assert not (root / "nothing").exists()


def test_pipes_and_links_are_not_read(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "link").symlink_to("a/file")
    for name in ("pipe", "link", "a"):
        with pytest.raises(OSError, match=r"."):
            open_file(root / name)
    with open_file(root / "a" / "file") as file:
        assert file.read() == b"text"


def deep(top: Path) -> None:
    """Make a tree that is deeper than the descriptors and the path of a process permit."""
    fd = open_directory(top)
    for _ in range(DEEP):
        os.mkdir("d" * 10, dir_fd=fd)
        inner = os.open("d" * 10, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
    os.close(fd)


def test_deep_tree_is_walked_and_removed_with_few_descriptors(root: Path) -> None:
    deep(root)
    with opened(open_directory(root)) as top:
        highest = max(each.directory for each in walk(top))
    assert highest < 100
    remove_tree(root)
    assert not root.exists()


def test_removal_follows_no_link(root: Path) -> None:
    (root.parent / "outside" / "kept").touch()
    (root / "closed").mkdir()
    (root / "closed" / "file").touch()
    (root / "closed").chmod(0)
    remove_tree(root / "out")
    remove_tree(root)
    assert not root.exists()
    assert (root.parent / "outside" / "kept").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_removal_enters_no_mount(root: Path) -> None:
    elsewhere = root.parent / "outside"
    (elsewhere / "kept").touch()
    with opened(open_directory(elsewhere)) as fd:
        bind(fd, root / "a" / "mounted")
    try:
        remove_tree(root)
        assert (elsewhere / "kept").exists()
        assert [Path(each).name for each in mounts_below(root)] == ["mounted"]
    finally:
        detach_all_below(root)
    assert mounts_below(root) == []
    remove_tree(root)
    assert not root.exists()
    assert (elsewhere / "kept").exists()
