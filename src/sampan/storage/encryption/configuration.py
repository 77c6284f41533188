"""EncryptionConfiguration: the resources to encrypt, and their providers.

Source: apiserver pkg/apis/apiserver/{v1/types_encryption,v1/defaults,validation/validation_encryption}.go (1.36).
"""

import base64
import binascii
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from sampan.core.field import FieldError, Path, invalid, required
from sampan.core.time import NANOSECONDS_PER_SECOND, parse_duration
from sampan.storage.encryption import aes
from sampan.wire import yaml as wire_yaml
from sampan.wire.json import DecodeError

KIND: Final = "EncryptionConfiguration"
_API_VERSION: Final = "apiserver.config.k8s.io/v1"
SECRETBOX_KEY_SIZES: Final = (32,)
_ROOT: Final = Path("resources")
_REDACTED: Final = "REDACTED"
_INTERNAL: Final = ("apiserveripinfo", "serviceipallocations", "servicenodeportallocations")


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Part of the file, with its field names. Unknown fields are errors."""


class Key(_Part, frozen=True):
    """Key in base64. Texts never show it."""

    name: str = ""
    secret: str = ""

    def __repr__(self) -> str:
        return f"Key(name={self.name!r})"


class Keys(_Part, frozen=True):
    """Keys of one provider. The first one encrypts."""

    keys: list[Key] = []


class Kms(_Part, frozen=True, rename="camel"):
    """KMS plug-in. `timeout` is a Go duration."""

    api_version: str = "v1"
    name: str = ""
    endpoint: str = ""
    timeout: str = "3s"
    cachesize: int | None = None

    @property
    def timeout_s(self) -> float:
        """Timeout of each call, in seconds."""
        return parse_duration(self.timeout) / NANOSECONDS_PER_SECOND


class IdentityPart(_Part, frozen=True):
    """Provider that does not encrypt."""


class Provider(_Part, frozen=True):
    """Provider. Exactly one field is set."""

    aesgcm: Keys | None = None
    aescbc: Keys | None = None
    secretbox: Keys | None = None
    kms: Kms | None = None
    identity: IdentityPart | None = None


class EncryptionRule(_Part, frozen=True):
    """Providers of some resources. The first one encrypts, all decrypt."""

    resources: list[str] = []
    providers: list[Provider] = []


class EncryptionConfiguration(_Part, frozen=True, rename="camel"):
    """Content of the file."""

    api_version: str = ""
    kind: str = ""
    metadata: dict[str, Any] | None = None
    resources: list[EncryptionRule] = []


def group_resource(text: str) -> tuple[str, str]:
    """Split `resource.group` into group and resource."""
    resource, _, group = text.partition(".")
    return group, resource


def parse_configuration(text: bytes) -> EncryptionConfiguration:
    """Parse and validate YAML or JSON. Raises `ValueError`, whose text contains no secret."""
    try:
        value, faults = wire_yaml.decode_file_strict(text)
    except DecodeError as error:
        raise ValueError(str(error)) from None
    if faults:
        raise ValueError(f"strict decoding error: {', '.join(faults)}")
    if not isinstance(value, dict):
        raise ValueError(f"the file contains no {KIND}")
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if (api_version, kind) != (_API_VERSION, KIND):
        raise ValueError(f'no kind "{kind}" is registered for version "{api_version}", expected {_API_VERSION} {KIND}')
    try:
        configuration = msgspec.convert(value, EncryptionConfiguration)
    except msgspec.ValidationError as error:
        raise ValueError(f"strict decoding error: {error}") from None
    errors = validate(configuration)
    if errors:
        raise ValueError(", ".join(map(str, errors)))
    return configuration


def validate(configuration: EncryptionConfiguration) -> list[FieldError]:
    """Return the errors of a configuration."""
    if not configuration.resources:
        return [required(_ROOT, "at least one resources is required")]
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, rule in enumerate(configuration.resources):
        at = _ROOT.index(index)
        errors += _resources_errors(rule.resources, at.child("resources"))
        providers = at.child("providers")
        if not rule.providers:
            errors.append(required(providers, f"at least one {providers} is required"))
        for position, provider in enumerate(rule.providers):
            errors += _provider_errors(provider, providers.index(position), names)
    return errors


def _resources_errors(resources: Sequence[str], path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    if not resources:
        errors.append(required(path, f"at least one {path} is required"))
    parsed = [group_resource(text) for text in resources]
    if len(set(parsed)) < len(parsed):
        errors.append(invalid(path, list(resources), "the same resource cannot be specified multiple times"))
    if any(_overlap(*pair) for pair in combinations(parsed, 2)):
        detail = (
            "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they "
            "will be masked"
        )
        errors.append(invalid(path, list(resources), detail))
    for index, text in enumerate(resources):
        detail = _name_problem(text)
        if detail:
            errors.append(invalid(path.index(index), text, detail))
    return errors


def _overlap(one: tuple[str, str], other: tuple[str, str]) -> bool:
    if one == other:
        return False
    return ("*", "*") in (one, other) or (one[0] == other[0] and "*" in (one[1], other[1]))


def _name_problem(text: str) -> str:
    group, resource = group_resource(text)
    if text.lower() != text:
        return "resource name should not contain capital letters"
    if text == "*":
        return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
    if text in _INTERNAL:
        return "resources which do not have REST API/s cannot be encrypted"
    if group == "events.k8s.io":
        return (
            "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the "
            "config file"
        )
    if group == "extensions":
        return "'extensions' group has been removed and cannot be used for encryption"
    if group == "*" and resource != "*":
        return "encrypting the same resource across groups is not supported"
    return ""


def _provider_errors(provider: Provider, path: Path, names: set[str]) -> list[FieldError]:
    parts = {name: getattr(provider, name) for name in provider.__struct_fields__}
    found = [name for name, part in parts.items() if part is not None]
    shown: dict[str, object] = {name: {} for name in found}
    if not found:
        known = "KMS, AESGCM, AESCBC, Secretbox, Identity"
        return [invalid(path, shown, f"provider does not contain any of the expected providers: {known}")]
    if len(found) > 1:
        detail = "more than one provider specified in a single element, should split into different list elements"
        return [invalid(path, shown, detail)]
    if provider.kms is not None:
        return _kms_errors(provider.kms, path.child("kms"), names)
    for part, name, sizes in (
        (provider.aesgcm, "aesgcm", aes.KEY_SIZES),
        (provider.aescbc, "aescbc", aes.KEY_SIZES),
        (provider.secretbox, "secretbox", SECRETBOX_KEY_SIZES),
    ):
        if part is not None:
            return _keys_errors(part.keys, path.child(name, "keys"), sizes)
    return []


def _keys_errors(keys: Sequence[Key], path: Path, sizes: Sequence[int]) -> list[FieldError]:
    if not keys:
        return [required(path, "at least one keys is required")]
    errors: list[FieldError] = []
    for index, key in enumerate(keys):
        at = path.index(index)
        if not key.name:
            errors.append(required(at.child("name"), "name is a mandatory field for a key"))
        if not key.secret:
            errors.append(required(at.child("secret"), "secret is a mandatory field for a key"))
            continue
        try:
            size = len(secret_of(key))
        except ValueError:
            errors.append(invalid(at.child("secret"), _REDACTED, "secrets must be base64 encoded"))
            continue
        if size not in sizes:
            expected = " ".join(map(str, sizes))
            detail = f"secret is not of the expected length, got {size}, expected one of [{expected}]"
            errors.append(invalid(at.child("secret"), _REDACTED, detail))
    return errors


def secret_of(key: Key) -> bytes:
    """Decode the key. Raises `ValueError`."""
    try:
        return base64.b64decode(key.secret, validate=True)
    except binascii.Error:
        raise ValueError("secrets must be base64 encoded") from None


def _kms_errors(kms: Kms, path: Path, names: set[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    if not kms.name:
        errors.append(required(path.child("name"), "name is a mandatory field for a provider"))
    if ":" in kms.name and kms.api_version != "v1":
        errors.append(
            invalid(path.child("name"), kms.name, f"invalid KMS provider name {kms.name}, must not contain ':'")
        )
    if kms.name in names:
        detail = f"duplicate KMS provider name {kms.name}, names must be unique"
        errors.append(invalid(path.child("name"), kms.name, detail))
    names.add(kms.name)
    errors += _kms_call_errors(kms, path)
    if kms.api_version not in ("v1", "v2"):
        detail = "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported"
        errors.append(invalid(path.child("apiVersion"), kms.api_version, detail))
    return errors


def _kms_call_errors(kms: Kms, path: Path) -> list[FieldError]:
    errors: list[FieldError] = []
    try:
        positive = kms.timeout_s > 0
    except ValueError as error:
        errors.append(invalid(path.child("timeout"), kms.timeout, str(error)))
    else:
        if not positive:
            errors.append(invalid(path.child("timeout"), kms.timeout, "timeout should be a positive value"))
    if not kms.endpoint:
        errors.append(invalid(path.child("endpoint"), "", "endpoint is a mandatory field for a kms"))
    elif urlsplit(kms.endpoint).scheme != "unix":
        scheme = urlsplit(kms.endpoint).scheme
        detail = f'unsupported scheme "{scheme}" for KMS provider, only unix is supported'
        errors.append(invalid(path.child("endpoint"), kms.endpoint, detail))
    if kms.cachesize is not None and kms.api_version != "v1":
        errors.append(invalid(path.child("cachesize"), kms.cachesize, "cachesize is not supported in v2"))
    return errors
