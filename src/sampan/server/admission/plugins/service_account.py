"""ServiceAccount: every Pod has a ServiceAccount, and its containers have the token.

Source: kubernetes plugin/pkg/admission/serviceaccount/admission.go (1.36).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from random import Random
from typing import ClassVar, Final, NamedTuple

from sampan.core.event_loop.offload import offloaded
from sampan.core.field import quote
from sampan.core.object import Object
from sampan.core.validation.names import generate_name
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.derived_cache import DerivedCache
from sampan.server.admission.pods import (
    POD_ONLY,
    annotations_of,
    has_projected_token,
    is_mirror,
    references_secret,
    secret_references,
)
from sampan.server.admission.refusal import refusal

DEFAULT: Final = "default"
TRIES: Final = 10
WAIT_S: Final = (0.1, 0.2)
"""Shortest and longest delay in seconds between polls for the account `default`, which a controller creates."""
TOKEN_LIFETIME_S: Final = 3607
VOLUME_PREFIX: Final = "kube-api-access-"
MOUNT_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
_ENFORCE_ANNOTATION: Final = "kubernetes.io/enforce-mountable-secrets"
_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_MODE: Final = 0o644


class Account(NamedTuple):
    """Fields of a ServiceAccount that Pods need."""

    name: str
    automount: bool
    pull_secrets: tuple[str, ...]
    mountable: frozenset[str] | None
    """Secrets that Pods may use; None: all."""


class ServiceAccount:
    """Admits new Pods. For added ephemeral containers, it checks Secrets."""

    name: ClassVar[str] = "ServiceAccount"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY

    def __init__(
        self, reader: CacheReader, *, random: Random, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._accounts = DerivedCache(reader, "", "serviceaccounts", _account)
        self._random = random
        self._sleep = sleep

    async def admit(self, attributes: Attributes) -> None:
        """Set account and token. **Raises** 403 if the account does not exist, or if a mirror Pod has an account or
        Secrets.
        """
        pod = attributes.obj
        if attributes.subresource or attributes.operation != "CREATE" or pod is None:
            return
        if is_mirror(pod):
            _check_mirror(attributes, pod)
            return
        spec = pod["spec"]
        name = spec.get("serviceAccountName") or DEFAULT
        spec["serviceAccountName"] = spec["serviceAccount"] = name
        account = await self._account_of(attributes, name)
        if spec.get("automountServiceAccountToken", account.automount):
            name = generate_name(VOLUME_PREFIX, self._random)
            await offloaded(mount_token, spec, name)
        if not spec.get("imagePullSecrets") and account.pull_secrets:
            spec["imagePullSecrets"] = [{"name": each} for each in account.pull_secrets]

    async def validate(self, attributes: Attributes) -> None:
        """Check account and Secrets. **Raises** 403 as `admit`, and for a Secret that the account does not allow."""
        pod = attributes.obj
        if pod is None:
            return
        if attributes.operation == "UPDATE":
            if attributes.subresource == "ephemeralcontainers":
                account = await self._required(attributes, pod)
                self._check(attributes, _denied_in(account, pod["spec"], "ephemeralContainers"))
            return
        if attributes.subresource:
            return
        if is_mirror(pod):
            _check_mirror(attributes, pod)
            return
        account = await self._required(attributes, pod)
        self._check(attributes, _denied(account, pod["spec"]))

    async def _required(self, attributes: Attributes, pod: Object) -> Account:
        name = pod["spec"].get("serviceAccountName", "")
        if not name:
            pod_name = pod["metadata"].get("name", "")
            raise refusal(attributes, f"no service account specified for pod {attributes.namespace}/{pod_name}")
        return await self._account_of(attributes, name)

    async def _account_of(self, attributes: Attributes, name: str) -> Account:
        """Return the account. Waits for the account `default`."""
        account = await self._accounts.find(name, attributes.namespace)
        wait_s = self._random.uniform(*WAIT_S) if account is None else 0.0
        tries = TRIES - 1 if name == DEFAULT else 0
        while account is None and tries:
            await self._sleep(wait_s)
            account = await self._accounts.find(name, attributes.namespace)
            tries -= 1
        if account is None:
            raise refusal(
                attributes,
                f"error looking up service account {attributes.namespace}/{name}: "
                f"serviceaccount {quote(name)} not found",
            )
        return account

    @staticmethod
    def _check(attributes: Attributes, denied: Iterator[str]) -> None:
        for text in denied:
            raise refusal(attributes, text)


def _account(obj: Object) -> Account:
    enforces = annotations_of(obj).get(_ENFORCE_ANNOTATION, "") in _TRUE
    mountable = frozenset(each.get("name", "") for each in obj.get("secrets") or ()) if enforces else None
    pull_secrets = tuple(each.get("name", "") for each in obj.get("imagePullSecrets") or ())
    return Account(
        obj["metadata"]["name"], obj.get("automountServiceAccountToken") is not False, pull_secrets, mountable
    )


def mount_token(spec: Object, new_name: str) -> None:
    """Mount a volume with token, CA and namespace in all containers that mount nothing at its path.

    `new_name` is the name of the volume if it has to be added.
    """
    volumes = spec.get("volumes") or []
    present = next((each["name"] for each in volumes if each.get("name", "").startswith(VOLUME_PREFIX)), None)
    name = present or new_name
    mounted = False
    for field in ("initContainers", "containers"):
        for container in spec.get(field) or ():
            mounts = container.get("volumeMounts") or []
            if not any(each.get("mountPath") == MOUNT_PATH for each in mounts):
                container["volumeMounts"] = [*mounts, {"name": name, "readOnly": True, "mountPath": MOUNT_PATH}]
                mounted = True
    if mounted and present is None:
        spec["volumes"] = [*volumes, {"name": name, "projected": _token_volume()}]


def _token_volume() -> Object:
    root_ca = {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": TOKEN_LIFETIME_S, "path": "token"}},
            {"configMap": root_ca},
            {"downwardAPI": {"items": [namespace]}},
        ],
        "defaultMode": _MODE,
    }


def _check_mirror(attributes: Attributes, pod: Object) -> None:
    if pod["spec"].get("serviceAccountName"):
        raise refusal(attributes, "a mirror pod may not reference service accounts")
    if references_secret(pod):
        raise refusal(attributes, "a mirror pod may not reference secrets")
    if has_projected_token(pod):
        raise refusal(attributes, "a mirror pod may not use ServiceAccountToken volume projections")


def _denied(account: Account, spec: Object) -> Iterator[str]:
    """Yield the Secrets of a Pod that the account does not allow."""
    if account.mountable is None:
        return
    for volume in spec.get("volumes") or ():
        secret = (volume.get("secret") or {}).get("secretName", "")
        if volume.get("secret") is not None and secret not in account.mountable:
            yield (
                f'volume with secret.secretName="{secret}" is not allowed because service account {account.name} does '
                "not reference that secret"
            )
    yield from _denied_in(account, spec, "initContainers")
    yield from _denied_in(account, spec, "containers")
    for index, each in enumerate(spec.get("imagePullSecrets") or ()):
        if each.get("name", "") not in account.pull_secrets:
            yield (
                f'imagePullSecrets[{index}].name="{each.get("name", "")}" is not allowed because service account '
                f"{account.name} does not reference that imagePullSecret"
            )


_WORDS: Final = {
    "initContainers": "init container",
    "containers": "container",
    "ephemeralContainers": "ephemeral container",
}


def _denied_in(account: Account, spec: Object, field: str) -> Iterator[str]:
    if account.mountable is None:
        return
    for container in spec.get(field) or ():
        for variable, secret in secret_references(container):
            if secret not in account.mountable:
                where = f"envVar {variable}" if variable else "envFrom"
                yield (
                    f"{_WORDS[field]} {container.get('name', '')} with {where} referencing "
                    f'secret.secretName="{secret}" '
                    f"is not allowed because service account {account.name} does not reference that secret"
                )
