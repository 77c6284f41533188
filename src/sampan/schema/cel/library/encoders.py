"""Base64 and keys of JSON patches. Validation rules have neither library; mutation policies have the keys of JSON
patches.

Source: cel-go ext/encoders.go (0.26), apiserver pkg/cel/library/jsonpatch.go (1.36).
"""

import base64
import binascii

from sampan.schema.cel.declarations import Library, first_traversal, function, with_cost
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.types import BYTES, STRING


def _encode(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _decode(text: str) -> bytes:
    try:
        padded = text if "=" in text else text + "=" * (-len(text) % 4)
        return base64.b64decode(padded, validate=True)
    except (binascii.Error, ValueError):
        raise CelRuntimeError("illegal base64 data") from None


def _escape_key(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


ENCODERS = Library(
    (
        function("base64.encode", "base64_encode_bytes", (BYTES,), STRING, _encode),
        function("base64.decode", "base64_decode_string", (STRING,), BYTES, _decode),
    )
)
JSON_PATCH = Library(
    with_cost(
        first_traversal,
        (function("jsonpatch.escapeKey", "string_jsonpatch_escapeKey_string", (STRING,), STRING, _escape_key),),
    )
)
