"""Keys and configurations of tests."""

import base64
from typing import Any

import orjson

from sampan.app.storage.encryption import EncryptionUpkeep
from sampan.storage.encryption.configuration import EncryptionConfiguration, parse_configuration
from sampan.storage.encryption.providers import Providers
from tests.server.cluster import Api

KEY = bytes(range(32))
OTHER = bytes(range(32, 64))
AT = b"/registry/secrets/default/a"


def keys(**named: bytes) -> dict[str, Any]:
    """The keys of a provider, by name; the first one writes."""
    return {"keys": [{"name": name, "secret": base64.b64encode(key).decode()} for name, key in named.items()]}


def content(*rules: tuple[list[str], list[dict[str, Any]]]) -> bytes:
    """The file: resources and providers."""
    resources = [{"resources": names, "providers": providers} for names, providers in rules]
    version = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "EncryptionConfiguration"}
    return orjson.dumps({**version, "resources": resources})


def configuration(*providers: dict[str, Any], resources: list[str] | None = None) -> EncryptionConfiguration:
    """Return a configuration with one rule, for Secrets by default."""
    return parse_configuration(content((resources or ["secrets"], list(providers))))


def providers(*parts: dict[str, Any], resources: list[str] | None = None) -> Providers:
    """Return the providers of such a configuration."""
    return Providers(configuration(*parts, resources=resources))


def upkeep_of(api: Api) -> EncryptionUpkeep:
    """Return the upkeep of an encrypted server."""
    assert isinstance(api.upkeep, EncryptionUpkeep)
    return api.upkeep
