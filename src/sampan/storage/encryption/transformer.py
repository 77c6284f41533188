"""`Transformer`: converts values to their stored form and back.

Source: apiserver pkg/storage/value/transformer.go, encrypt/identity/identity.go (1.36).
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

ENCRYPTED: Final = b"k8s:enc:"
"""Prefix of all encrypted values."""


class EncryptionError(Exception):
    """A value cannot be encrypted or decrypted. The text never contains a key or a value."""

    code: str = ""
    """Error code of a key service, as gRPC names it; empty if none was called."""


class KeyServiceDown(EncryptionError):
    """The key service does not respond, so decryption is impossible for now."""


class Plain(NamedTuple):
    """Decrypted value. `stale`: a new write would encrypt it in another way."""

    value: bytes
    stale: bool = False


class Transformer(Protocol):
    """One way to store values.

    `key` is the key under which the value is stored. It is authenticated, so a value cannot be moved to another key.
    """

    @property
    def needs_keys(self) -> bool:
        """True if `fetch_keys` does anything."""

    @property
    def prefix(self) -> str:
        """Prefix of all values that this transformer writes."""

    def read(self, data: bytes, key: bytes) -> Plain:
        """Return the decrypted value. Raises `EncryptionError`."""

    def write(self, value: bytes, key: bytes) -> bytes:
        """Return the encrypted value. Raises `EncryptionError`."""

    async def fetch_keys(self, data: Iterable[bytes]) -> None:
        """Fetch the keys that these values need, without blocking the event loop. Raises `KeyServiceDown`."""


class Local:
    """Base of transformers that have their key, so `fetch_keys` does nothing."""

    needs_keys = False
    prefix = ""

    async def fetch_keys(self, data: Iterable[bytes]) -> None:
        """Fetch the keys that these values need, without blocking the event loop."""


class Identity(Local):
    """Transformer that does not encrypt."""

    def read(self, data: bytes, key: bytes) -> Plain:
        """Return the decrypted value. Refuses encrypted values."""
        if data.startswith(ENCRYPTED):
            raise EncryptionError("identity transformer tried to read encrypted data")
        return Plain(data)

    def write(self, value: bytes, key: bytes) -> bytes:
        """Return the encrypted value."""
        return value


class Prefixed(NamedTuple):
    """Transformer, with the prefix of the values that it wrote."""

    prefix: bytes
    transformer: Transformer


class PrefixTransformers:
    """Encrypts with the first transformer, and decrypts with each one whose prefix matches."""

    def __init__(self, choices: Sequence[Prefixed], no_match: str) -> None:
        """`no_match`: error if no prefix matches."""
        self._choices = tuple(choices)
        self._no_match = no_match
        self._learners = tuple(choice for choice in self._choices if choice.transformer.needs_keys)
        self.needs_keys = bool(self._learners)
        self.prefix = self._choices[0].prefix.decode() if self._choices else ""

    def read(self, data: bytes, key: bytes) -> Plain:
        """Return the decrypted value. A value is stale unless the first transformer wrote it."""
        errors: dict[str, EncryptionError] = {}
        for index, (prefix, transformer) in enumerate(self._choices):
            if not data.startswith(prefix):
                continue
            try:
                plain = transformer.read(data[len(prefix) :], key)
            except EncryptionError as error:
                if prefix:
                    errors[str(error)] = error
                continue
            return Plain(plain.value, plain.stale or index > 0)
        raise _combined(errors) if errors else EncryptionError(self._no_match)

    def write(self, value: bytes, key: bytes) -> bytes:
        """Return the encrypted value."""
        prefix, transformer = self._choices[0]
        return prefix + transformer.write(value, key)

    async def fetch_keys(self, data: Iterable[bytes]) -> None:
        """Fetch the keys that these values need, without blocking the event loop."""
        if not self._learners:
            return
        data = list(data)
        for prefix, transformer in self._learners:
            fitting = [value[len(prefix) :] for value in data if value.startswith(prefix)]
            if fitting:
                await transformer.fetch_keys(fitting)


def _combined(errors: dict[str, EncryptionError]) -> EncryptionError:
    if len(errors) == 1:
        return next(iter(errors.values()))
    return EncryptionError(f"[{', '.join(errors)}]")
