"""What turns a value into what is stored, and back.

Source: apiserver pkg/storage/value/transformer.go, encrypt/identity/identity.go (1.36).
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

ENCRYPTED: Final = b"k8s:enc:"
"""All encrypted values begin so."""


class TransformError(Exception):
    """A value cannot be encrypted or decrypted. The text never holds a key or a value."""

    code: str = ""
    """What a key service said, as gRPC names it; "": it was not asked."""


class KeyServiceDown(TransformError):
    """It cannot be for now: whoever has the key does not answer."""


class Plain(NamedTuple):
    """A decrypted value. `stale`: it would be written in another way now."""

    value: bytes
    stale: bool = False


class Transformer(Protocol):
    """One way to store values. `key` is where the value is stored: what is authenticated cannot be moved elsewhere."""

    @property
    def learns(self) -> bool:
        """Whether `learn` ever does anything."""

    @property
    def prefix(self) -> str:
        """How what it writes begins."""

    def read(self, data: bytes, key: bytes) -> Plain:
        """Raises `TransformError`."""

    def write(self, value: bytes, key: bytes) -> bytes:
        """Raises `TransformError`."""

    async def learn(self, data: Iterable[bytes]) -> None:
        """Find out, without holding up others, what reading these values takes. Raises `KeyServiceDown`."""


class Local:
    """A transformer that has its key: there is nothing to find out."""

    learns = False
    prefix = ""

    async def learn(self, data: Iterable[bytes]) -> None:
        """See `Transformer`."""


class Identity(Local):
    """Values as they are."""

    def read(self, data: bytes, key: bytes) -> Plain:
        """See `Transformer`. What is encrypted is not for this one."""
        if data.startswith(ENCRYPTED):
            raise TransformError("identity transformer tried to read encrypted data")
        return Plain(data)

    def write(self, value: bytes, key: bytes) -> bytes:
        """See `Transformer`."""
        return value


class Prefixed(NamedTuple):
    """A transformer, and how the values that it wrote begin."""

    prefix: bytes
    transformer: Transformer


class PrefixTransformers:
    """Writes with the first one, reads with each whose prefix fits."""

    def __init__(self, choices: Sequence[Prefixed], nobody: str) -> None:
        """`nobody`: what is said when no prefix fits."""
        self._choices = tuple(choices)
        self._nobody = nobody
        self._learners = tuple(choice for choice in self._choices if choice.transformer.learns)
        self.learns = bool(self._learners)
        self.prefix = self._choices[0].prefix.decode() if self._choices else ""

    def read(self, data: bytes, key: bytes) -> Plain:
        """See `Transformer`. What another than the first one has written is stale."""
        errors: dict[str, TransformError] = {}
        for index, (prefix, transformer) in enumerate(self._choices):
            if not data.startswith(prefix):
                continue
            try:
                plain = transformer.read(data[len(prefix) :], key)
            except TransformError as error:
                if prefix:
                    errors[str(error)] = error
                continue
            return Plain(plain.value, plain.stale or index > 0)
        raise _combined(errors) if errors else TransformError(self._nobody)

    def write(self, value: bytes, key: bytes) -> bytes:
        """See `Transformer`."""
        prefix, transformer = self._choices[0]
        return prefix + transformer.write(value, key)

    async def learn(self, data: Iterable[bytes]) -> None:
        """See `Transformer`."""
        if not self._learners:
            return
        data = list(data)
        for prefix, transformer in self._learners:
            fitting = [value[len(prefix) :] for value in data if value.startswith(prefix)]
            if fitting:
                await transformer.learn(fitting)


def _combined(errors: dict[str, TransformError]) -> TransformError:
    if len(errors) == 1:
        return next(iter(errors.values()))
    return TransformError(f"[{', '.join(errors)}]")
