"""Messages of KMS v2 and of the stored envelope, and the methods of a plug-in.

A map is declared in its wire form: repeated entries of key and value.

Source: kms apis/v2/api.proto, apiserver pkg/storage/value/encrypt/envelope/kmsv2/v2/api.proto (1.36).
"""

from typing import Any, Final

from sampan.rpc.proto_table import Method, message_classes

_CLASSES: Final = message_classes(
    "sampan.kms",
    """
Entry: string key=1, bytes value=2
StatusRequest:
StatusResponse: string version=1, string healthz=2, string key_id=3
DecryptRequest: bytes ciphertext=1, string uid=2, string key_id=3, *Entry annotations=4
DecryptResponse: bytes plaintext=1
EncryptRequest: bytes plaintext=1, string uid=2
EncryptResponse: bytes ciphertext=1, string key_id=2, *Entry annotations=3
EncryptedObject: bytes encryptedData=1, string keyID=2, bytes encryptedDEKSource=3, *Entry annotations=4, \
int32 encryptedDEKSourceType=5
""",
)
AES_GCM_KEY: Final = 0
HKDF_SEED: Final = 1
"""Content of the encrypted source: the data encryption key itself, or the seed of such keys."""

EncryptedObject: Any = _CLASSES["EncryptedObject"]
StatusRequest: Any = _CLASSES["StatusRequest"]
DecryptRequest: Any = _CLASSES["DecryptRequest"]
EncryptRequest: Any = _CLASSES["EncryptRequest"]


def _method(name: str) -> Method:
    return Method(f"/v2.KeyManagementService/{name}", _CLASSES[f"{name}Request"], _CLASSES[f"{name}Response"])


STATUS: Final = _method("Status")
DECRYPT: Final = _method("Decrypt")
ENCRYPT: Final = _method("Encrypt")


def entries(annotations: dict[str, bytes]) -> list[Any]:
    """Return a map in its wire form, ordered by key."""
    return [_CLASSES["Entry"](key=key, value=value) for key, value in sorted(annotations.items())]


def annotations_of(message: Any) -> dict[str, bytes]:
    """Return the map of a message."""
    return {entry.key: entry.value for entry in message.annotations}
