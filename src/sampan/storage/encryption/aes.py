"""AES: GCM, CBC, and GCM with a separate key for each value.

Source: apiserver pkg/storage/value/encrypt/aes/{aes,aes_extended_nonce}.go (1.36).
"""

import os
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from sampan.storage.encryption.transformer import EncryptionError, Local, Plain

KEY_SIZES: Final = (16, 24, 32)
SEED_SIZE: Final = 32
_NONCE: Final = 12
_BLOCK: Final = 16
_INFO: Final = 32
_SHORT: Final = "the stored data was shorter than the required size"


class Gcm(Local):
    """AES-GCM, authenticated. Each value has a random nonce, so one key is safe for about 2^32 writes."""

    def __init__(self, key: bytes) -> None:
        self._aead = AESGCM(key)

    def read(self, data: bytes, key: bytes) -> Plain:
        """Return the decrypted value."""
        if len(data) < _NONCE:
            raise EncryptionError(_SHORT)
        try:
            return Plain(self._aead.decrypt(data[:_NONCE], data[_NONCE:], key))
        except InvalidTag:
            raise EncryptionError("cipher: message authentication failed") from None

    def write(self, value: bytes, key: bytes) -> bytes:
        """Return the encrypted value."""
        nonce = os.urandom(_NONCE)
        return nonce + self._aead.encrypt(nonce, value, key)


class Cbc(Local):
    """AES-CBC, not authenticated: a wrong key is detected by the padding, but not always. For existing values only."""

    def __init__(self, key: bytes) -> None:
        self._algorithm = AES(key)

    def read(self, data: bytes, key: bytes) -> Plain:
        """Return the decrypted value."""
        if len(data) < _BLOCK:
            raise EncryptionError(_SHORT)
        if len(data) % _BLOCK:
            raise EncryptionError("the stored data is not a multiple of the block size")
        decryptor = Cipher(self._algorithm, CBC(data[:_BLOCK])).decryptor()
        padded = decryptor.update(data[_BLOCK:]) + decryptor.finalize()
        size = padded[-1] if padded else 0
        if not 0 < size <= len(padded):
            raise EncryptionError("invalid PKCS7 data (empty or not padded)")
        if padded[-size:] != bytes([size]) * size:
            raise EncryptionError("invalid padding on input")
        return Plain(padded[:-size])

    def write(self, value: bytes, key: bytes) -> bytes:
        """Return the encrypted value."""
        size, start = _BLOCK - len(value) % _BLOCK, os.urandom(_BLOCK)
        encryptor = Cipher(self._algorithm, CBC(start)).encryptor()
        return start + encryptor.update(value + bytes([size]) * size) + encryptor.finalize()


class ExtendedNonceGcm(Local):
    """AES-GCM with a key derived for each value from a seed, so that nonces never repeat under one key."""

    def __init__(self, seed: bytes) -> None:
        """Raise `EncryptionError` if the seed is too short."""
        if len(seed) < SEED_SIZE:
            raise EncryptionError(f"invalid seed length {len(seed)} used for key generation")
        self._seed = seed

    def read(self, data: bytes, key: bytes) -> Plain:
        """Return the decrypted value."""
        if len(data) < _INFO:
            raise EncryptionError(_SHORT)
        return self._derived(data[:_INFO]).read(data[_INFO:], key)

    def write(self, value: bytes, key: bytes) -> bytes:
        """Return the encrypted value."""
        info = os.urandom(_INFO)
        return info + self._derived(info).write(value, key)

    def _derived(self, info: bytes) -> Gcm:
        return Gcm(HKDFExpand(SHA256(), SEED_SIZE, info).derive(self._seed))
