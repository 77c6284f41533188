"""`CertificateSource`: the current serving certificate and CA bundle, with notifications of changes."""

import asyncio
import datetime
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

from sampan.operator.rights import Right


@dataclass(frozen=True, slots=True)
class Material:
    """Certificates and keys as PEM."""

    certificate: bytes
    """Certificate with its chain, if there is one."""
    key: bytes = field(repr=False)
    ca_bundle: bytes
    """Authorities that clients should trust; empty if unknown."""
    not_after: datetime.datetime
    """Expiry of the certificate."""


class CertificateSource(ABC):
    """Runs until cancelled and keeps `material` up to date."""

    def __init__(self) -> None:
        self._material: Material | None = None
        self._ready = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []

    def rights(self) -> list[Right]:
        """Return the rights on the API server that the source needs; by default none."""
        return []

    @property
    def material(self) -> Material:
        """Present certificates. Raises `RuntimeError` before `ready`."""
        if self._material is None:
            raise RuntimeError("there are no certificates yet")
        return self._material

    async def ready(self) -> None:
        """Wait until there are certificates."""
        await self._ready.wait()

    def listen(self, changed: Callable[[], None]) -> None:
        """Call `changed` after each change, the first certificates included."""
        self._listeners.append(changed)

    @abstractmethod
    async def run(self) -> None:
        """Keep the certificates up to date until cancelled."""

    @abstractmethod
    async def refresh(self) -> None:
        """Check for changes now. Raises `ClientError`, `OSError`, `ValueError`."""

    def _hold(self, material: Material) -> None:
        if material == self._material:
            return
        self._material = material
        self._ready.set()
        for changed in self._listeners:
            changed()
