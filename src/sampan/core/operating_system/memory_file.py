"""`memory_file`: content under a path, for libraries that read only files.

On Linux the file is in memory. So keys are never on a disk, and a container with a read-only root file system needs no
directory for temporary files. On other systems the file is in a directory that only this user can read.
"""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def memory_file(content: bytes) -> Iterator[str]:
    """Return the path of a file with this content, which exists only within the block. Raises `OSError`."""
    if sys.platform != "linux":
        with tempfile.TemporaryDirectory(prefix="sampan-") as directory:
            file = Path(directory) / "content"
            file.touch(mode=0o600)
            file.write_bytes(content)
            yield str(file)
        return
    descriptor = os.memfd_create("sampan", os.MFD_CLOEXEC)
    try:
        with open(descriptor, "wb", closefd=False) as file_in_memory:
            file_in_memory.write(content)
        # Each opening starts at the beginning of the file.
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
