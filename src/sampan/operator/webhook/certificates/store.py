"""`CertificateStore`: shared storage for the certificates of replicas."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Stored:
    """Files and the version of their state."""

    files: Mapping[str, bytes]
    version: str


class CertificateStore(Protocol):
    """Keeps a few files. Of concurrent writers that started from the same state, exactly one succeeds."""

    async def load(self) -> Stored | None:
        """Return the current state; None if there is none. Raises `ClientError`, `OSError`."""
        ...

    async def save(self, files: Mapping[str, bytes], before: Stored | None) -> bool:
        """Replace the state that `load` returned. Return False if another writer was first. Raises `ClientError`,
        `OSError`.
        """
        ...

    async def watch(self, changed: Callable[[], None]) -> None:
        """Call `changed` after each possible change, until cancelled."""
        ...
