"""Stored form of a value with a KMS key: the encrypted value, with the encrypted source of its key.

Source: apiserver pkg/storage/value/encrypt/envelope/kmsv2/envelope.go (1.36).
"""

import hashlib
from collections.abc import Mapping
from typing import Final, NamedTuple

from google.protobuf.message import DecodeError

from sampan.core.validation.names import dns1123_subdomain_errors
from sampan.storage.encryption.aes import ExtendedNonceGcm, Gcm
from sampan.storage.encryption.kms import messages
from sampan.storage.encryption.kms.key_service import EncryptedSource
from sampan.storage.encryption.kms.messages import AES_GCM_KEY, HKDF_SEED
from sampan.storage.encryption.transformer import EncryptionError, Transformer

KEY_ID_SIZE_MAX: Final = 1024
SOURCE_SIZE_MAX: Final = 1024
ANNOTATIONS_SIZE_MAX: Final = 32 * 1024

SourceKey = tuple[int, bytes, str, tuple[tuple[str, bytes], ...]]
"""Identity of a source of keys."""


class Envelope(NamedTuple):
    """Stored value, parsed."""

    data: bytes
    source: EncryptedSource
    source_type: int

    @property
    def source_key(self) -> SourceKey:
        """Identity of the source of keys. Values with the same identity use the same source."""
        annotations = tuple(sorted(self.source.annotations.items()))
        return self.source_type, self.source.ciphertext, self.source.key_id, annotations


def open_envelope(data: bytes) -> Envelope:
    """Parse a stored value. Raises `EncryptionError`."""
    try:
        found = messages.EncryptedObject.FromString(data)
    except DecodeError as error:
        raise EncryptionError(f"proto: {error}") from None
    source = EncryptedSource(found.encryptedDEKSource, found.keyID, messages.annotations_of(found))
    envelope = Envelope(found.encryptedData, source, found.encryptedDEKSourceType)
    check_envelope(envelope)
    return envelope


def sealed(envelope: Envelope) -> bytes:
    """Return the bytes to store. Raises `EncryptionError`."""
    check_envelope(envelope)
    source = envelope.source
    data: bytes = messages.EncryptedObject(
        encryptedData=envelope.data,
        keyID=source.key_id,
        encryptedDEKSource=source.ciphertext,
        annotations=messages.entries(source.annotations),
        encryptedDEKSourceType=envelope.source_type,
    ).SerializeToString(deterministic=True)
    return data


def check_envelope(envelope: Envelope) -> None:
    """Raise `EncryptionError` if the envelope is invalid."""
    if envelope.source_type not in (AES_GCM_KEY, HKDF_SEED):
        raise EncryptionError(f"unknown encryptedDEKSourceType: {envelope.source_type}")
    if not envelope.data:
        raise EncryptionError("encrypted data is empty")
    size = len(envelope.source.ciphertext)
    if not size:
        raise EncryptionError("failed to validate encrypted DEK source: encrypted DEK source is empty")
    if size > SOURCE_SIZE_MAX:
        text = f"encrypted DEK source is {size} bytes, which exceeds the max size of {SOURCE_SIZE_MAX}"
        raise EncryptionError(f"failed to validate encrypted DEK source: {text}")
    problem = key_id_problem(envelope.source.key_id)
    if problem:
        raise EncryptionError(f"failed to validate key id: {problem}")
    _check_annotations(envelope.source.annotations)


def key_id_problem(key_id: str) -> str:
    """Return the fault of a key id; empty if it is valid."""
    size = len(key_id.encode())
    if not size:
        return "keyID is empty"
    return f"keyID is {size} bytes, which exceeds the max size of {KEY_ID_SIZE_MAX}" if size > KEY_ID_SIZE_MAX else ""


def _check_annotations(annotations: Mapping[str, bytes]) -> None:
    for name in annotations:
        if dns1123_subdomain_errors(name) or "." not in name:
            text = "should be a domain with at least two segments separated by dots"
            raise EncryptionError(f'failed to validate annotations: annotations: Invalid value: "{name}": {text}')
    size = sum(len(name.encode()) + len(value) for name, value in annotations.items())
    if size > ANNOTATIONS_SIZE_MAX:
        text = f"total size of annotations is {size}, which exceeds the max size of {ANNOTATIONS_SIZE_MAX}"
        raise EncryptionError(f"failed to validate annotations: {text}")


def transformer_of(source_type: int, plaintext: bytes) -> Transformer:
    """Return the transformer for a decrypted source of keys. Raises `EncryptionError`."""
    if source_type == HKDF_SEED:
        return ExtendedNonceGcm(plaintext)
    try:
        return Gcm(plaintext)
    except ValueError:
        raise EncryptionError(f"the data key has {len(plaintext)} bytes: AES needs 16, 24 or 32") from None


def key_id_hash(key_id: str) -> str:
    """Return the hash of a key id, for logs and metrics."""
    return f"sha256:{hashlib.sha256(key_id.encode()).hexdigest()}" if key_id else ""
