"""A KMS plug-in: it encrypts by putting a word before what it is given."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

from sampan.rpc.proto_table import Method
from sampan.storage.encryption.kms import messages
from sampan.storage.encryption.kms.key_service import EncryptedSource, KeyStatus
from sampan.storage.encryption.transformer import EncryptionError, KeyServiceDown

_PREFIX = b"encrypted with "


class Plugin:
    """A `KeyService` in this process. What it does can be changed."""

    def __init__(self, key_id: str = "key-1") -> None:
        self.key_id = key_id
        self.healthz = "ok"
        self.version = "v2"
        self.down = False
        self.keys = {key_id}
        self.calls: list[str] = []

    def rotate(self, key_id: str) -> None:
        """Encrypt with another key from now on."""
        self.key_id = key_id
        self.keys.add(key_id)

    def status(self) -> KeyStatus:
        self._call("status")
        return KeyStatus(self.version, self.healthz, self.key_id)

    def encrypt(self, uid: str, plaintext: bytes) -> EncryptedSource:
        self._call("encrypt")
        word = _PREFIX + self.key_id.encode() + b" "
        return EncryptedSource(word + plaintext, self.key_id, {"local.kms.test": b"1"})

    def decrypt(self, uid: str, source: EncryptedSource) -> bytes:
        self._call("decrypt")
        word = _PREFIX + source.key_id.encode() + b" "
        if source.key_id not in self.keys or not source.ciphertext.startswith(word):
            raise EncryptionError("no such key")
        assert source.annotations == {"local.kms.test": b"1"}
        return source.ciphertext[len(word) :]

    def close(self) -> None:
        pass

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if self.down:
            raise KeyServiceDown("nobody answers")


@contextmanager
def served(plugin: Plugin, socket: Path) -> Iterator[None]:
    """The plug-in on a Unix socket."""

    def status(request: Any, context: Any) -> Any:
        found = plugin.status()
        return messages.STATUS.response(version=found.version, healthz=found.healthz, key_id=found.key_id)

    def encrypt(request: Any, context: Any) -> Any:
        found = plugin.encrypt(request.uid, request.plaintext)
        annotations = messages.entries(found.annotations)
        return messages.ENCRYPT.response(ciphertext=found.ciphertext, key_id=found.key_id, annotations=annotations)

    def decrypt(request: Any, context: Any) -> Any:
        source = EncryptedSource(request.ciphertext, request.key_id, messages.annotations_of(request))
        try:
            return messages.DECRYPT.response(plaintext=plugin.decrypt(request.uid, source))
        except EncryptionError as error:
            context.abort(grpc.StatusCode.INTERNAL, str(error))

    def handler(method: Method, call: Any) -> Any:
        return grpc.unary_unary_rpc_method_handler(
            call,
            request_deserializer=method.request.FromString,
            response_serializer=method.response.SerializeToString,
        )

    methods = {"Status": (messages.STATUS, status), "Encrypt": (messages.ENCRYPT, encrypt)}
    methods["Decrypt"] = (messages.DECRYPT, decrypt)
    server = grpc.server(ThreadPoolExecutor(2))
    handlers = {name: handler(*pair) for name, pair in methods.items()}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("v2.KeyManagementService", handlers),))
    server.add_insecure_port(f"unix:{socket}")
    server.start()
    try:
        yield
    finally:
        server.stop(None).wait()
