"""Secrets. Source: pkg/registry/core/secret/strategy.go, pkg/apis/core/validation/validation.go (1.36)."""

import base64
from collections.abc import Sequence
from typing import Any, ClassVar, Final, TypedDict

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization

from sampan.core.field import FieldError, Path, invalid, required, too_long
from sampan.core.go_text import MAP, unmarshal_text
from sampan.core.object import Object
from sampan.core.validation.values import config_map_key_errors
from sampan.registry.columns.cells import NAME, at, column, count
from sampan.registry.kind import Kind
from sampan.registry.kinds.core.config_map import SIZE_BYTES_MAX, check_immutable_data, decoded_size_bytes
from sampan.registry.strategy import Context, Strategy
from sampan.wire import json as wire_json

Errors = list[FieldError]
_DATA = Path("data")
_SERVICE_ACCOUNT_NAME = "kubernetes.io/service-account.name"
_REDACTED = "<secret contents redacted>"
_JSON_KEYS = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}
_TLS = "kubernetes.io/tls"


def merge_string_data(secret: Object) -> None:
    """Merge `stringData`, which is never stored, into `data`, in place."""
    texts = secret.pop("stringData", None)
    if texts:
        data = secret.setdefault("data", {})
        for key, text in texts.items():
            data[key] = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


class _Part(TypedDict, total=False):
    """Fields that field selectors read."""

    type: str


class SecretStrategy(Strategy):
    """Strategy of Secrets of all types."""

    has_generation = False
    labels: ClassVar[Sequence[str]] = ("type",)

    def default(self, obj: Object) -> None:
        if "stringData" in obj:
            merge_string_data(obj)
        if not obj.get("type"):
            obj["type"] = "Opaque"

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        data = obj.get("data") or {}
        size = 0
        for key, value in data.items():
            if texts := config_map_key_errors(key):
                errors.extend(invalid(_DATA.key(key), key, text) for text in texts)
            size += decoded_size_bytes(value)
        if size > SIZE_BYTES_MAX:
            errors.append(too_long(_DATA, "", SIZE_BYTES_MAX))
        kind = obj.get("type", "")
        if kind != "Opaque":
            _check_type(kind, obj, data, errors)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        if obj.get("type", "") != old.get("type", ""):
            errors.append(invalid(Path("type"), obj.get("type", ""), "field is immutable"))
        check_immutable_data(obj, old, ("data",), errors)
        self.check(ctx, obj, errors)

    def warnings_on_create(self, ctx: Context, obj: Object) -> list[str]:
        return _tls_warnings(obj.get("data") or {}) if obj.get("type") == _TLS else []

    selectable_part: ClassVar[Any] = _Part

    def selectable_fields(self, obj: Object) -> dict[str, str]:
        return {"type": obj.get("type", "")}


def _check_type(kind: str, obj: Object, data: dict[str, str], errors: Errors) -> None:
    """Check the data that the type of the Secret requires."""
    if kind == "kubernetes.io/service-account-token":
        if not (obj["metadata"].get("annotations") or {}).get(_SERVICE_ACCOUNT_NAME):
            errors.append(required(Path("metadata", "annotations").key(_SERVICE_ACCOUNT_NAME)))
    elif kind in _JSON_KEYS:
        _check_json(_JSON_KEYS[kind], data, errors)
    elif kind == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            errors.extend(required(_DATA.key(key)) for key in ("username", "password"))
    elif kind == "kubernetes.io/ssh-auth":
        if not data.get("ssh-privatekey"):
            errors.append(required(_DATA.key("ssh-privatekey")))
    elif kind == _TLS:
        errors.extend(required(_DATA.key(key)) for key in ("tls.crt", "tls.key") if key not in data)


def _check_json(key: str, data: dict[str, str], errors: Errors) -> None:
    if key not in data:
        errors.append(required(_DATA.key(key)))
        return
    text = base64.b64decode(data[key])
    try:
        value = wire_json.decode(text)
    except wire_json.DecodeError as error:
        errors.append(invalid(_DATA.key(key), _REDACTED, str(error)))
        return
    if not isinstance(value, dict) and value is not None:
        errors.append(invalid(_DATA.key(key), _REDACTED, unmarshal_text(value, MAP)))


def _tls_warnings(data: dict[str, str]) -> list[str]:
    """Warn if certificate and key do not match. The Secret is stored all the same."""
    certificate, key = (base64.b64decode(data.get(name, "")) for name in ("tls.crt", "tls.key"))
    if b"-----BEGIN CERTIFICATE-----" not in certificate:
        return ["tls: failed to find any PEM data in certificate input"]
    if b"-----BEGIN " not in key:
        return ["tls: failed to find any PEM data in key input"]
    try:
        public = x509.load_pem_x509_certificate(certificate).public_key()
        private = serialization.load_pem_private_key(key, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        return [f"tls: failed to parse private key or certificate: {error}"]
    form = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    if private.public_key().public_bytes(*form) != public.public_bytes(*form):
        return ["tls: private key does not match public key"]
    return []


KINDS: Final = (
    Kind(
        "",
        "secrets",
        SecretStrategy(),
        columns=lambda ages: (NAME, column("Type", at("type")), column("Data", count("data")), ages.column),
    ),
)
