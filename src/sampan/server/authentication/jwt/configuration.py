"""AuthenticationConfiguration: trusted issuers of JWTs, and the mapping of their claims.

Source: apiserver pkg/apis/apiserver/types.go (1.36).
"""

import re
from typing import Any

import msgspec

from sampan.wire import yaml as wire_yaml
from sampan.wire.json import DecodeError

GROUP = "apiserver.config.k8s.io"
VERSIONS = ("v1", "v1beta1", "v1alpha1")
KIND = "AuthenticationConfiguration"
_UNKNOWN = re.compile(r"Object contains unknown field `([^`]*)`(?: - at `\$\.?(.*)`)?")


class _Part(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Base class for parts of the configuration file. Field names are those of the file; unknown fields are errors."""


class Issuer(_Part, frozen=True):
    """Issuer of tokens, and their audiences."""

    url: str = ""
    discovery_url: str = msgspec.field(default="", name="discoveryURL")
    certificate_authority: str = ""
    audiences: list[str] = []
    audience_match_policy: str = ""
    egress_selector_type: str = ""


class ClaimRule(_Part, frozen=True):
    """Claim that must have a value, or expression that must be true."""

    claim: str = ""
    required_value: str = ""
    expression: str = ""
    message: str = ""


class PrefixedMapping(_Part, frozen=True):
    """Claim with a prefix, or expression."""

    claim: str = ""
    prefix: str | None = None
    expression: str = ""


class ClaimMapping(_Part, frozen=True):
    """Claim or expression."""

    claim: str = ""
    expression: str = ""


class ExtraMapping(_Part, frozen=True):
    """Key of the user's extra fields, and the expression for its values."""

    key: str = ""
    value_expression: str = ""


class ClaimMappings(_Part, frozen=True):
    """Mapping of claims to a user."""

    username: PrefixedMapping = PrefixedMapping()
    groups: PrefixedMapping = PrefixedMapping()
    uid: ClaimMapping = ClaimMapping()
    extra: list[ExtraMapping] = []


class UserRule(_Part, frozen=True):
    """Expression about the user that must be true."""

    expression: str = ""
    message: str = ""


class JwtIssuer(_Part, frozen=True):
    """Issuer with its rules."""

    issuer: Issuer = Issuer()
    claim_validation_rules: list[ClaimRule] = []
    claim_mappings: ClaimMappings = ClaimMappings()
    user_validation_rules: list[UserRule] = []


class AnonymousCondition(_Part, frozen=True):
    """Path on which anonymous requests are allowed."""

    path: str = ""


class Anonymous(_Part, frozen=True):
    """Settings of anonymous requests: enabled or not, and on which paths."""

    enabled: bool = False
    conditions: list[AnonymousCondition] = []


class AuthenticationConfiguration(_Part, frozen=True):
    """Content of the configuration file."""

    api_version: str = ""
    kind: str = ""
    jwt: list[JwtIssuer] = []
    anonymous: Anonymous | None = None


def parse_configuration(text: bytes) -> AuthenticationConfiguration:
    """Decode YAML or JSON. Raises `ValueError` for unreadable text, unknown fields and other kinds."""
    try:
        value, faults = wire_yaml.decode_file_strict(text)
    except DecodeError as error:
        raise ValueError(str(error)) from None
    if faults:
        raise ValueError(f"strict decoding error: {', '.join(faults)}")
    _check_kind(value)
    try:
        return msgspec.convert(_without_nulls(value), AuthenticationConfiguration)
    except msgspec.ValidationError as error:
        raise ValueError(_shown(str(error))) from None


def _check_kind(value: Any) -> None:
    if not isinstance(value, dict):
        raise ValueError(f"the file contains no {KIND}")
    api_version, kind = value.get("apiVersion"), value.get("kind")
    if kind != KIND or api_version not in {f"{GROUP}/{version}" for version in VERSIONS}:
        raise ValueError(f'no kind "{kind}" is registered for version "{api_version}", expected {GROUP}/v1 {KIND}')


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _shown(text: str) -> str:
    match = _UNKNOWN.fullmatch(text)
    if match is None:
        return text
    name, place = match.groups()
    return f'strict decoding error: unknown field "{f"{place}.{name}" if place else name}"'
