"""`instance_of`: who a node of processes is, over all its starts: this machine, and the directory that it keeps."""

import os
import socket
import uuid
from pathlib import Path
from typing import Final

_FILE: Final = "instance"


def instance_of(root: Path) -> str:
    """The machine's name and what is in a file of the directory, which is made if need be. Raises `OSError`."""
    path = root / _FILE
    root.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        draft = root / f".{_FILE}.{os.getpid()}"
        draft.write_text(uuid.uuid4().hex)
        draft.replace(path)
    return f"{socket.gethostname()}/{path.read_text().strip()}"
