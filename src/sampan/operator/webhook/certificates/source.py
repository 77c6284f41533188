"""`CertificateSource`: what a server shows and clients are to believe, at present; it tells of changes."""

import asyncio
import datetime
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Material:
    """PEM, all of it."""

    certificate: bytes
    """With its chain, if it has one."""
    key: bytes = field(repr=False)
    ca_bundle: bytes
    """What clients are to believe; empty: it is not known here."""
    not_after: datetime.datetime
    """When the certificate ends."""


class CertificateSource(ABC):
    """Runs until cancelled; keeps `material` up to date meanwhile."""

    def __init__(self) -> None:
        self._material: Material | None = None
        self._ready = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []

    @property
    def material(self) -> Material:
        """The present certificates. Raises `RuntimeError` before `ready`."""
        if self._material is None:
            raise RuntimeError("there are no certificates yet")
        return self._material

    async def ready(self) -> None:
        """Wait until there are certificates."""
        await self._ready.wait()

    def listen(self, changed: Callable[[], None]) -> None:
        """Have `changed` called after each change, the first certificates included."""
        self._listeners.append(changed)

    @abstractmethod
    async def run(self) -> None:
        """Keep the certificates up to date until cancelled."""

    @abstractmethod
    async def refresh(self) -> None:
        """Look now. Raises `ClientError`, `OSError`, `ValueError`."""

    def _hold(self, material: Material) -> None:
        if material == self._material:
            return
        self._material = material
        self._ready.set()
        for changed in self._listeners:
            changed()
