"""`DirectoryStore`: certificates in a directory, for operators outside a cluster.

Processes share it with a lock on the file `.lock`. A state is identified by the digest of its files.

Concurrency: the files are small and local, so they are read and written on the event loop; `watch` polls.
"""

import asyncio
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sampan.operator.webhook.certificates.certificate_set import AUTHORITY_KEYS, BUNDLE, CERTIFICATE, KEY, RETIRED
from sampan.operator.webhook.certificates.store import Stored

POLL_INTERVAL_S: Final = 10.0

_NAMES: Final = (CERTIFICATE, KEY, BUNDLE, AUTHORITY_KEYS, RETIRED)


class DirectoryStore:
    """Implements `CertificateStore`. Creates the directory if necessary; only the owner can read its files."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def load(self) -> Stored | None:
        """Return the current state; None if there is none."""
        with self._locked():
            return self._read()

    async def save(self, files: Mapping[str, bytes], before: Stored | None) -> bool:
        """Replace the state that `load` returned."""
        with self._locked():
            found = self._read()
            if (found and found.version) != (before and before.version):
                return False
            for name, content in files.items():
                self._write(name, content)
        return True

    async def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` after each possible change, until cancelled."""
        seen: Stored | None = None
        while True:
            try:
                found = await self.load()
            except OSError:
                found = None  # The next `load` raises the error.
            if found != seen:
                seen = found
                changed()
            await asyncio.sleep(POLL_INTERVAL_S)

    def _read(self) -> Stored | None:
        paths = [self._directory / name for name in _NAMES]
        files = {path.name: path.read_bytes() for path in paths if path.exists()}
        if not files:
            return None
        digest = hashlib.sha256()
        for name, content in files.items():
            digest.update(f"{name} {len(content)} ".encode() + content)
        return Stored(files, digest.hexdigest())

    def _write(self, name: str, content: bytes) -> None:
        new = self._directory / f".{name}.new"
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
        new.replace(self._directory / name)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._directory / ".lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
