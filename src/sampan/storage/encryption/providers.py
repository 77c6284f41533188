"""`Providers`: transformers of a configuration, by resource.

Source: apiserver pkg/server/options/encryptionconfig/config.go (1.36).
"""

import logging
from collections.abc import Callable
from types import ModuleType
from typing import Final

from sampan.core.extras import import_extra
from sampan.storage.encryption.aes import Cbc, Gcm
from sampan.storage.encryption.configuration import (
    EncryptionConfiguration,
    Keys,
    Kms,
    Provider,
    group_resource,
    secret_of,
)
from sampan.storage.encryption.kms.key_service import KeyService
from sampan.storage.encryption.kms.plugin import KmsPlugin
from sampan.storage.encryption.measures import EncryptionMeasures
from sampan.storage.encryption.transformer import EncryptionError, Identity, Prefixed, PrefixTransformers, Transformer

_log = logging.getLogger(__name__)

_ANY: Final = ("*", "*")
_IDENTITY: Final = Identity()
_KMS_V1: Final = "KMSv1 is deprecated and not supported. Use KMSv2 instead."

Connect = Callable[[Kms], KeyService]


def connect_by_socket(kms: Kms) -> KeyService:
    """Connect to the plug-in's Unix socket. Raises `MissingExtra`."""
    service: KeyService = _load("kms.service", "kms").GrpcKeyService(kms.endpoint, kms.timeout_s)
    return service


class Providers:
    """Providers of one configuration. `kms`: its plug-ins, in order."""

    def __init__(
        self,
        configuration: EncryptionConfiguration,
        connect: Connect = connect_by_socket,
        measures: EncryptionMeasures | None = None,
    ) -> None:
        """Raise `ValueError` if the configuration cannot be used, `MissingExtra` if a provider's package is absent."""
        self.measures = measures or EncryptionMeasures()
        self.kms: list[KmsPlugin] = []
        self.identity: Transformer = _IDENTITY
        """Transformer of keys that belong to no resource."""
        self._connect = connect
        lists: dict[tuple[str, str], list[Prefixed]] = {}
        for rule in configuration.resources:
            transformers = [self._prefixed(provider) for provider in rule.providers]
            for text in rule.resources:
                _check_mask(text, lists)
                lists.setdefault(group_resource(text), []).extend(transformers)
        self._transformers: dict[tuple[str, str], Transformer] = {
            resource: PrefixTransformers(found, "no matching prefix found") for resource, found in lists.items()
        }

    def of(self, group: str, resource: str) -> Transformer:
        """Return the transformer of a resource: its own, its group's, the one for all resources, or the identity."""
        found = self._transformers
        return found.get((group, resource)) or found.get((group, "*")) or found.get(_ANY) or _IDENTITY

    async def prime(self) -> None:
        """Check the plug-ins for the first time. Failures are logged and retried later."""
        for provider in self.kms:
            try:
                await provider.check()
            except EncryptionError as error:
                _log.warning(
                    "KMS plug-in check failed; retrying", extra={"provider": provider.name, "error": str(error)}
                )

    async def health(self) -> None:
        """Raise `EncryptionError` if a plug-in is unhealthy."""
        for provider in self.kms:
            await provider.health()

    def close(self) -> None:
        """Close the connections."""
        for provider in self.kms:
            provider.close()

    def _prefixed(self, provider: Provider) -> Prefixed:
        if provider.kms is not None:
            if provider.kms.api_version == "v1":
                raise ValueError(_KMS_V1)
            make = _load("kms.provider", "kms").KmsProvider
            kms: KmsPlugin = make(provider.kms.name, self._connect(provider.kms), measures=self.measures)
            self.kms.append(kms)
            return Prefixed(f"k8s:enc:kms:v2:{kms.name}:".encode(), kms)
        if provider.aesgcm is not None:
            return _keyed("aesgcm", provider.aesgcm, Gcm, "AES")
        if provider.aescbc is not None:
            return _keyed("aescbc", provider.aescbc, Cbc, "AES")
        if provider.secretbox is not None:
            return _keyed("secretbox", provider.secretbox, _load("secretbox", "secretbox").Secretbox, "Secretbox")
        return Prefixed(b"", _IDENTITY)


def _load(module: str, extra: str) -> ModuleType:
    return import_extra(f"{__package__}.{module}", extra=extra, feature=f"the encryption provider {extra}")


def _keyed(name: str, keys: Keys, make: Callable[[bytes], Transformer], shown: str) -> Prefixed:
    choices = [Prefixed(f"{key.name}:".encode(), make(secret_of(key))) for key in keys.keys]
    no_match = f"no matching key was found for the provided {shown} transformer"
    return Prefixed(f"k8s:enc:{name}:v1:".encode(), PrefixTransformers(choices, no_match))


def _check_mask(text: str, known: dict[tuple[str, str], list[Prefixed]]) -> None:
    """Raise `ValueError` for a rule after a wider one, which would never apply."""
    group, _ = group_resource(text)
    for wider in ((group, "*"), _ANY):
        if wider in known:
            raise ValueError(f'resource "{_shown(group_resource(text))}" is masked by earlier rule "{_shown(wider)}"')


def _shown(resource: tuple[str, str]) -> str:
    group, name = resource
    return f"{name}.{group}" if group or name == "*" else name
