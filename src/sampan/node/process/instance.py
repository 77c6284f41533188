"""`instance_of`: who a node of processes is, over all its starts: this machine, and the directory that it keeps."""

import os
import socket
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Final

INSTANCE_FILE: Final = "instance"


def instance_of(root: Path) -> str:
    """The machine's name and what is in a file of the directory, which is made if need be. Raises `OSError`."""
    path = root / INSTANCE_FILE
    root.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        draft = root / f".{INSTANCE_FILE}.{os.getpid()}"
        draft.write_text(uuid.uuid4().hex)
        with suppress(FileExistsError):  # of two that start at once, the first one's counts
            path.hardlink_to(draft)
        draft.unlink()
    return f"{socket.gethostname()}/{path.read_text().strip()}"
