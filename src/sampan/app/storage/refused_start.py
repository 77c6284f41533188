"""`nothing_left_if_refused`: a start that is refused leaves nothing in a data directory that it made."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

from sampan.app.storage.lock import LOCK


@contextmanager
def nothing_left_if_refused(directory: Path, *, is_new: bool) -> Iterator[Callable[[], None]]:
    """Remove the contents of a new directory if the block raises before it calls the function that it gets.

    The caller calls it before it opens the store, so no stored object is ever removed. It holds the lock of the
    directory, so no other server writes there. `is_new`: the directory was absent or empty before the lock.
    """
    accepted = False
    # Another server may have run between that look and the lock.
    is_new = is_new and all(path.name == LOCK for path in directory.iterdir())

    def accept() -> None:
        nonlocal accepted
        accepted = True

    try:
        yield accept
    except BaseException:
        if is_new and not accepted:
            _empty(directory)
        raise


def _empty(directory: Path) -> None:
    for path in directory.iterdir():
        if path.is_dir() and not path.is_symlink():
            rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
