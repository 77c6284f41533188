"""`KmsPlugin`: interface of `KmsProvider`, for modules that must not import gRPC."""

from typing import Protocol

from sampan.storage.encryption.transformer import Transformer


class KmsPlugin(Transformer, Protocol):
    """Transformer whose keys a KMS plug-in protects."""

    name: str

    @property
    def sources_cached(self) -> int:
        """Number of cached seeds and keys."""

    @property
    def healthy(self) -> bool:
        """True if the last check succeeded."""

    @property
    def pause_s(self) -> float:
        """Time until the next check, in seconds."""

    async def check(self) -> None:
        """Check the plug-in, and make a new seed if its key has changed. Raises `EncryptionError`."""

    async def health(self) -> None:
        """Check the plug-in for a health check. Raises `EncryptionError`."""

    def close(self) -> None:
        """Close the connection."""
