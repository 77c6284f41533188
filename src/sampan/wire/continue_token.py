"""Continue tokens of paged lists.

Source: apiserver pkg/storage/continue.go (1.36).
"""

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Final

from sampan.core.go_text import json_number, kind_text, unmarshal_text
from sampan.wire.json import DecodeError, decode, encode

_VERSION: Final = "meta.k8s.io/v1"
_INT64_MAX: Final = 2**63 - 1
_INVALID: Final = "continue key is not valid: "
_not_base64 = re.compile(r"[^A-Za-z0-9_-]").search
INCONSISTENT: Final = -1
"""Revision of a token that continues with the current state instead of a snapshot."""


@dataclass(frozen=True, slots=True)
class ContinueToken:
    """Position in a paged list: the next page starts after key `start`, at `revision` (or `INCONSISTENT`)."""

    revision: int
    start: str


def encode_token(token: ContinueToken, prefix: str) -> str:
    """Encode a token for clients, without `prefix`, which `start` must begin with. Raises `ValueError`."""
    if not prefix or not token.start.startswith(prefix):
        raise ValueError("unable to encode next field: the key and key prefix do not match")
    body = encode({"v": _VERSION, "rv": token.revision, "start": f"{token.start[len(prefix) :]}\0"})
    return base64.urlsafe_b64encode(body).rstrip(b"=").decode()


def decode_token(text: str, prefix: str) -> ContinueToken:
    """Decode a token. Raises `ValueError` with Kubernetes' message (the part after `invalid continue token: `)."""
    fields = _fields(text)
    version, revision, start = _text(fields, "v"), _revision(fields), _text(fields, "start")
    if version != _VERSION:
        raise ValueError(f"{_INVALID}server does not recognize this encoded version {version}")
    if revision == 0:
        raise ValueError(f"{_INVALID}incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
    if not start:
        raise ValueError(f"{_INVALID}encoded start key empty (version meta.k8s.io/v1)")
    key = start if start.startswith("/") else f"/{start}"
    if not _is_clean(key):
        raise ValueError(f"{_INVALID}{start}")
    return ContinueToken(revision, prefix + key[1:].removesuffix("\0"))


def _text(fields: dict[str, object], name: str) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{_INVALID}{unmarshal_text(value, 'string', field=f'continueToken.{name}')}")
    return value


def _revision(fields: dict[str, object]) -> int:
    value = fields.get("rv")
    if value is None:
        return 0
    if type(value) is not int or not -_INT64_MAX <= value <= _INT64_MAX:
        raise ValueError(f"{_INVALID}{kind_text(json_number(value), 'int64', field='continueToken.rv')}")
    return value


def _fields(text: str) -> dict[str, object]:
    broken = _not_base64(text)
    # Go's base64 decoder ignores line breaks.
    text = text.replace("\r", "").replace("\n", "") if broken else text
    broken = _not_base64(text)
    if broken or len(text) % 4 == 1:
        position = broken.start() if broken else len(text) - 1
        raise ValueError(f"{_INVALID}illegal base64 data at input byte {position}")
    try:
        body = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        value = decode(body)
    except (DecodeError, binascii.Error) as error:
        raise ValueError(f"{_INVALID}{error}") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{_INVALID}{unmarshal_text(value, 'storage.continueToken')}")
    return value


def _is_clean(key: str) -> bool:
    """Report whether Go's path.Clean returns the key unchanged: no empty, `.` or `..` element, no trailing slash."""
    return key == "/" or not any(part in ("", ".", "..") for part in key[1:].split("/"))
