"""`KeyService`: interface of a KMS plug-in, with the types of its responses."""

from typing import NamedTuple, Protocol


class KeyStatus(NamedTuple):
    """Health of the plug-in, and the key that it uses."""

    version: str
    healthz: str
    key_id: str


class EncryptedSource(NamedTuple):
    """Encrypted seed (or key), with the data that the plug-in needs to decrypt it."""

    ciphertext: bytes
    key_id: str
    annotations: dict[str, bytes]


class KeyService(Protocol):
    """KMS plug-in. All methods block and raise `EncryptionError`; `KeyServiceDown` if the plug-in does not respond."""

    def status(self) -> KeyStatus:
        """Return the plug-in's status."""

    def encrypt(self, uid: str, plaintext: bytes) -> EncryptedSource:
        """Encrypt a seed. `uid` identifies the call in logs."""

    def decrypt(self, uid: str, source: EncryptedSource) -> bytes:
        """Decrypt a seed."""

    def close(self) -> None:
        """Close the connection."""
