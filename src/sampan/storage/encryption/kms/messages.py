"""Messages of KMS v2 and of the stored envelope, as a table; protobuf makes classes of them in a separate pool.

A map is declared in its wire form: repeated entries of key and value.

Source: kms apis/v2/api.proto, apiserver pkg/storage/value/encrypt/envelope/kmsv2/v2/api.proto (1.36).
"""

from typing import Any, Final, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_PACKAGE: Final = "sampan.kms"
_MESSAGES: Final = {
    "Entry": "string key=1, bytes value=2",
    "StatusRequest": "",
    "StatusResponse": "string version=1, string healthz=2, string key_id=3",
    "DecryptRequest": "bytes ciphertext=1, string uid=2, string key_id=3, *Entry annotations=4",
    "DecryptResponse": "bytes plaintext=1",
    "EncryptRequest": "bytes plaintext=1, string uid=2",
    "EncryptResponse": "bytes ciphertext=1, string key_id=2, *Entry annotations=3",
    "EncryptedObject": (
        "bytes encryptedData=1, string keyID=2, bytes encryptedDEKSource=3, *Entry annotations=4, "
        "int32 encryptedDEKSourceType=5"
    ),
}
_TYPES: Final = {
    "bytes": descriptor_pb2.FieldDescriptorProto.TYPE_BYTES,
    "string": descriptor_pb2.FieldDescriptorProto.TYPE_STRING,
    "int32": descriptor_pb2.FieldDescriptorProto.TYPE_INT32,
}

AES_GCM_KEY: Final = 0
HKDF_SEED: Final = 1
"""Content of the encrypted source: the data encryption key itself, or the seed of such keys."""


def _add_field(message: descriptor_pb2.DescriptorProto, declaration: str) -> None:
    kind, _, rest = declaration.strip().partition(" ")
    name, _, number = rest.partition("=")
    field = message.field.add(name=name, number=int(number))
    field.label = field.LABEL_REPEATED if kind.startswith("*") else field.LABEL_OPTIONAL
    kind = kind.removeprefix("*")
    if kind in _TYPES:
        field.type = _TYPES[kind]
    else:
        field.type, field.type_name = field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name="kms.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for declaration in filter(None, fields.split(",")):
            _add_field(message, declaration)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES
    }


_CLASSES: Final = _classes()
EncryptedObject: Any = _CLASSES["EncryptedObject"]
StatusRequest: Any = _CLASSES["StatusRequest"]
DecryptRequest: Any = _CLASSES["DecryptRequest"]
EncryptRequest: Any = _CLASSES["EncryptRequest"]


class Method(NamedTuple):
    """Call of the plug-in: its path, and the classes of its messages."""

    path: str
    request: Any
    response: Any


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
