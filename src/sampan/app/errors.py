"""Errors that prevent a start, for the administrator."""

import errno
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
