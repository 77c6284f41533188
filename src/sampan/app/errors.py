"""Errors that prevent a start, for the administrator."""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class StartError(Exception):
    """A server cannot start. The text is one line that names the fault."""


_REMEDIES = {
    errno.ENOSPC: "free space there, or choose another directory with --data",
    errno.EDQUOT: "free space there, or choose another directory with --data",
    errno.EROFS: "choose a directory on a writable disk with --data",
    errno.EACCES: "choose a directory that this user can write to with --data",
    errno.EPERM: "choose a directory that this user can write to with --data",
}


def unusable_directory(directory: Path, error: OSError) -> StartError:
    """Return the error for an unusable data directory, with the file, the cause and the remedy."""
    remedy = _REMEDIES.get(error.errno or 0, "choose another directory with --data")
    place = f" ({error.filename})" if error.filename and Path(error.filename) != directory else ""
    return StartError(f"cannot use the data directory {directory}{place}: {error.strerror or error}: {remedy}")


@contextmanager
def content_of(file: Path) -> Iterator[None]:
    """Name the file in the `ValueError` of a parser. Errors that name it already, and other errors, pass unchanged."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not text in UTF-8") from error
    except ValueError as error:
        # A short path, such as `g`, may also be a part of a word.
        if re.search(rf"(?<![\w/.-]){re.escape(str(file))}(?![\w/-])", str(error)):
            raise
        raise ValueError(f"{file}: {error}") from error
