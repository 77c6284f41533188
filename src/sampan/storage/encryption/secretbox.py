"""XSalsa20 with Poly1305. Source: apiserver pkg/storage/value/encrypt/secretbox/secretbox.go (1.36)."""

import os
from typing import Final

from nacl.bindings import (
    crypto_secretbox,
    crypto_secretbox_MACBYTES,
    crypto_secretbox_NONCEBYTES,
    crypto_secretbox_open,
)
from nacl.exceptions import CryptoError

from sampan.storage.encryption.transformer import EncryptionError, Local, Plain

_NONCE: Final = crypto_secretbox_NONCEBYTES


class Secretbox(Local):
    """Secretbox. Authenticates the value, but not the key under which it is stored."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def read(self, data: bytes, key: bytes) -> Plain:
        """Return the decrypted value."""
        if len(data) < _NONCE + crypto_secretbox_MACBYTES:
            raise EncryptionError("the stored data was shorter than the required size")
        try:
            return Plain(crypto_secretbox_open(data[_NONCE:], data[:_NONCE], self._key))
        except CryptoError:
            raise EncryptionError("output array was not large enough for encryption") from None

    def write(self, value: bytes, key: bytes) -> bytes:
        """Return the encrypted value."""
        nonce = os.urandom(_NONCE)
        return nonce + crypto_secretbox(value, nonce, self._key)
