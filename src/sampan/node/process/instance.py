"""`instance_of`: who a node of processes is, over all its starts: this machine, and the directory that it keeps."""

import os
import socket
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Final

INSTANCE_FILE: Final = "instance"
_OWN: Final = {INSTANCE_FILE, "pods", "logs", "trial"}


def make_private(root: Path) -> None:
    """Make the directory of an agent, which no other user may enter. Raises `OSError`.

    One that exists gets the mode only if nothing else is in it: it may be a directory that others use too.
    """
    if not root.is_dir():
        root.mkdir(mode=0o750, parents=True, exist_ok=True)
    elif root.stat().st_uid == os.geteuid() and {each.name for each in root.iterdir()} <= _OWN:
        root.chmod(0o750)


def instance_of(root: Path) -> str:
    """The machine's name and what is in a file of the directory, which is made if need be. Raises `OSError`."""
    path = root / INSTANCE_FILE
    make_private(root)
    if not path.exists():
        draft = root / f".{INSTANCE_FILE}.{os.getpid()}"
        draft.write_text(uuid.uuid4().hex)
        with suppress(FileExistsError):  # of two that start at once, the first one's counts
            path.hardlink_to(draft)
        draft.unlink()
    return f"{socket.gethostname()}/{path.read_text().strip()}"
