"""`instance_of`: identifies an agent across restarts, by its machine and its directory."""

import os
import socket
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Final

INSTANCE_FILE: Final = "instance"
_OWN: Final = {INSTANCE_FILE, "pods", "logs", "trial"}


def make_private(root: Path) -> None:
    """Create the directory of an agent, with no access for other users. Raises `OSError`.

    An existing directory gets this mode only if it contains no files except the agent's. Otherwise, other programs may
    use it too.
    """
    if not root.is_dir():
        root.mkdir(mode=0o750, parents=True, exist_ok=True)
    elif root.stat().st_uid == os.geteuid() and {each.name for each in root.iterdir()} <= _OWN:
        root.chmod(0o750)


def instance_of(root: Path) -> str:
    """Return the host name and the id in the directory's file, which is created if necessary. Raises `OSError`."""
    path = root / INSTANCE_FILE
    make_private(root)
    if not path.exists():
        draft = root / f".{INSTANCE_FILE}.{os.getpid()}"
        draft.write_text(uuid.uuid4().hex)
        with suppress(FileExistsError):  # Of two agents that start at the same time, the first one's id counts.
            path.hardlink_to(draft)
        draft.unlink()
    return f"{socket.gethostname()}/{path.read_text().strip()}"
