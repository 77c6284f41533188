"""`MemoryCertificates`: certificates of one process, for servers whose clients do not verify them."""

import asyncio
from collections.abc import Callable, Mapping

from sampan.operator.webhook.certificates.store import Stored


class MemoryCertificates:
    """Implements `CertificateStore`. The certificates are new in each process."""

    def __init__(self) -> None:
        self._stored: Stored | None = None
        self._writes = 0

    async def load(self) -> Stored | None:
        """Return the current state; None if there is none."""
        return self._stored

    async def save(self, files: Mapping[str, bytes], before: Stored | None) -> bool:
        """Replace the state that `load` returned."""
        if (before and before.version) != (self._stored and self._stored.version):
            return False
        self._writes += 1
        self._stored = Stored(dict(files), str(self._writes))
        return True

    async def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` after each possible change, until cancelled."""
        changed()
        await asyncio.get_running_loop().create_future()
