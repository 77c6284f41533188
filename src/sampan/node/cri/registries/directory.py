"""`write_hosts`: keeps the hosts.toml files of a directory as they should be. Files of users are left alone."""

import logging
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from sampan.node.cri.registries.hosts import MARK

_log = logging.getLogger("sampan.node")
_FILE = "hosts.toml"


def write_hosts(directory: Path, desired: Mapping[str, str]) -> list[str]:
    """Write, replace and remove files with the mark. Return the hosts that have a file of the user instead.

    containerd reads them for each pull. **Raises** `OSError`.
    """
    foreign = []
    for host, content in desired.items():
        path = directory / host / _FILE
        present = _read(path)
        if present is not None and not present.startswith(MARK):
            foreign.append(host)
        elif present != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, content)
    for path in directory.glob(f"*/{_FILE}") if directory.is_dir() else ():
        if path.parent.name not in desired and (_read(path) or "").startswith(MARK):
            path.unlink(missing_ok=True)
            with suppress(OSError):  # the directory has other files
                path.parent.rmdir()
    return foreign


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace")
    except FileNotFoundError:
        return None


def _replace(path: Path, content: str) -> None:
    handle, name = tempfile.mkstemp(prefix=".hosts-", dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            os.fchmod(handle, 0o644)
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
