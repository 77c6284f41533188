"""`GrpcKeyService`: calls of a KMS plug-in. Needs the extra `kms`.

Concurrency: calls block, so they run in threads, except the synchronous call of `KmsProvider.read`.

Source: apiserver pkg/storage/value/encrypt/envelope/kmsv2/grpc_service.go (1.36).
"""

from typing import Any, Final
from urllib.parse import urlsplit

import grpc

from sampan.rpc.proto_table import Method
from sampan.storage.encryption.kms import messages
from sampan.storage.encryption.kms.key_service import EncryptedSource, KeyStatus
from sampan.storage.encryption.transformer import EncryptionError, KeyServiceDown

_DOWN: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


class GrpcKeyService:
    """Plug-in on a Unix socket. Each call has a timeout of `timeout_s`, including the connection."""

    def __init__(self, endpoint: str, timeout_s: float) -> None:
        """`endpoint`: unix:///path, or unix:///@name for an abstract socket."""
        path = urlsplit(endpoint).path
        target = f"unix-abstract:{path[2:]}" if path.startswith("/@") else f"unix:{path}"
        self._timeout_s = timeout_s
        self._channel = grpc.insecure_channel(target, options=[("grpc.default_authority", "localhost")])

    def status(self) -> KeyStatus:
        """Return the plug-in's status."""
        found = self._call(messages.STATUS, messages.StatusRequest())
        return KeyStatus(found.version, found.healthz, found.key_id)

    def encrypt(self, uid: str, plaintext: bytes) -> EncryptedSource:
        """Encrypt a seed."""
        found = self._call(messages.ENCRYPT, messages.EncryptRequest(plaintext=plaintext, uid=uid))
        return EncryptedSource(found.ciphertext, found.key_id, messages.annotations_of(found))

    def decrypt(self, uid: str, source: EncryptedSource) -> bytes:
        """Decrypt a seed."""
        request = messages.DecryptRequest(
            ciphertext=source.ciphertext,
            uid=uid,
            key_id=source.key_id,
            annotations=messages.entries(source.annotations),
        )
        plaintext: bytes = self._call(messages.DECRYPT, request).plaintext
        return plaintext

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()

    def _call(self, method: Method, request: Any) -> Any:
        call = self._channel.unary_unary(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )
        try:
            return call(request, timeout=self._timeout_s, wait_for_ready=True)
        except grpc.RpcError as error:
            raise _refusal(error) from None
        except ValueError as error:
            raise KeyServiceDown(f"rpc error: {error}") from None


def _refusal(error: grpc.RpcError) -> EncryptionError:
    assert isinstance(error, grpc.Call)
    text = f"rpc error: code = {error.code().name} desc = {error.details()}"
    refusal = KeyServiceDown(text) if error.code() in _DOWN else EncryptionError(text)
    refusal.code = error.code().name.title().replace("_", "")
    return refusal
