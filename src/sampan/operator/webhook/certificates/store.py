"""`CertificateStore`: where replicas share their certificates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Stored:
    """Files, and which state of them it is."""

    files: Mapping[str, bytes]
    version: str


class CertificateStore(Protocol):
    """Keeps a handful of files. Of writers that began at the same state exactly one succeeds."""

    async def load(self) -> Stored | None:
        """What is there now; None: nothing. Raises `ClientError`, `OSError`."""
        ...

    async def save(self, files: Mapping[str, bytes], before: Stored | None) -> bool:
        """Replace what `load` gave. False: somebody else was faster. Raises `ClientError`, `OSError`."""
        ...

    async def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever something may have changed, until cancelled."""
        ...
