"""Bootstrap tokens in Secrets: the public cluster information is signed with them, and expired ones are deleted.

A machine that joins has only a token. It reads the ConfigMap `kube-public/cluster-info` from a server that it cannot
verify yet. The signature proves that a holder of the token has written it.
Source: kubernetes pkg/controller/bootstrap/{bootstrapsigner,tokencleaner}.go (1.36).
"""

from __future__ import annotations

import base64
import datetime as dt
import re
from collections.abc import Iterable
from typing import Any, Final

from sampan.client import Conflict, DeleteOptions, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CONFIG_MAPS, SECRETS
from sampan.core.time import parse_time
from sampan.core.tokens.bootstrap import (
    CLUSTER_INFO,
    CLUSTER_INFO_NAMESPACE,
    KUBECONFIG_KEY,
    SECRET_NAMESPACE,
    SECRET_PREFIX,
    SECRET_TYPE,
    SIGNATURE_PREFIX,
    BootstrapToken,
    parse_token,
    sign,
)
from sampan.informer.ref import Ref
from sampan.kinds import core_v1
from sampan.operator.builder import Builder
from sampan.operator.predicates import matching
from sampan.operator.request import Request, Result
from sampan.resource import meta

SIGNER: Final = "bootstrap-signer-controller"
CLEANER: Final = "token-cleaner-controller"
_CLUSTER_INFO: Final = Request(CLUSTER_INFO_NAMESPACE, CLUSTER_INFO)
_NAME: Final = re.compile(rf"{SECRET_PREFIX}[a-z0-9]{{6}}")


def set_up_signer(context: ControllerContext) -> None:
    """Register the signer with the manager."""
    (
        Builder(context.manager)
        .named(SIGNER)
        .for_(CONFIG_MAPS, predicates=[matching(_is_cluster_info)])
        .watches(SECRETS, lambda _: (_CLUSTER_INFO,), predicates=[matching(_may_be_token)])
        .complete(Signer(context))
    )


def set_up_cleaner(context: ControllerContext) -> None:
    """Register the cleaner with the manager."""
    (
        Builder(context.manager)
        .named(CLEANER)
        .for_(SECRETS, predicates=[matching(_may_be_token)])
        .complete(TokenCleaner(context))
    )


class Signer:
    """Keeps one signature of the cluster information for each valid token, and removes all other signatures."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._clock = context.clock
        self._secrets = context.informer(SECRETS)
        self._config_maps = client.resource(CONFIG_MAPS, namespace=CLUSTER_INFO_NAMESPACE)

    async def reconcile(self, request: Request) -> Result | None:
        """Sign the cluster information. Raises `ApiError`, `TransportError`."""
        found = await self._config_maps.find(request)
        if found is None:
            return None
        data: dict[str, str] = found.get("data") or {}
        tokens = list(self._tokens())
        content = data.get(KUBECONFIG_KEY, "")
        desired = {SIGNATURE_PREFIX + token.id: sign(content, token) for token, _ in tokens} if content else {}
        present = {key: value for key, value in data.items() if key.startswith(SIGNATURE_PREFIX)}
        if desired != present:
            change = {key: desired.get(key) for key in {*desired, *present}}
            version = meta(found).resource_version
            try:
                await self._config_maps.patch(
                    CLUSTER_INFO, MergePatch({"metadata": {"resourceVersion": version}, "data": change})
                )
            except (Conflict, NotFound):
                return None  # The event of that change queues the request again.
        ends = [left for _, left in tokens if left is not None]
        return Result(min(ends)) if ends else None

    def _tokens(self) -> Iterable[tuple[BootstrapToken, float | None]]:
        """Yield the tokens for signatures, each with the seconds until it expires."""
        for ref in self._secrets.indexer.refs():
            if _may_be_token(ref):
                secret = ref.decode()
                token = _token_of(secret)
                left = seconds_left(secret, self._clock.now())
                if token is not None and _value(secret, "usage-bootstrap-signing") == "true" and left != 0.0:
                    yield token, left


class TokenCleaner:
    """Deletes expired tokens."""

    def __init__(self, context: ControllerContext) -> None:
        self._clock = context.clock
        self._secrets = context.manager.client.resource(SECRETS, namespace=SECRET_NAMESPACE)

    async def reconcile(self, request: Request) -> Result | None:
        """Delete a token, or wait until it expires. Raises `ApiError`, `TransportError`."""
        secret = await self._secrets.find(request)
        if secret is None or secret.get("type") != SECRET_TYPE:
            return None
        left = seconds_left(secret, self._clock.now())
        if left is None:
            return None
        if left > 0:
            return Result(left)
        try:
            await self._secrets.delete(request.name, DeleteOptions(uid=meta(secret).uid))
        except NotFound:
            return None
        return None


def seconds_left(secret: core_v1.Secret, now: dt.datetime) -> float | None:
    """Return the time until a token expires; 0 if it has expired or its date is invalid, None if it never expires."""
    expiration = _value(secret, "expiration")
    if not expiration:
        return None
    try:
        return max(0.0, (parse_time(expiration) - now).total_seconds())
    except ValueError:
        return 0.0


def _is_cluster_info(ref: Ref[Any]) -> bool:
    return ref.key == f"{CLUSTER_INFO_NAMESPACE}/{CLUSTER_INFO}"


def _may_be_token(ref: Ref[Any]) -> bool:
    return ref.namespace == SECRET_NAMESPACE and _NAME.fullmatch(ref.name) is not None


def _token_of(secret: core_v1.Secret) -> BootstrapToken | None:
    """Return the token of a Secret, or None if the Secret is malformed or being deleted."""
    if secret.get("type") != SECRET_TYPE or meta(secret).deletion_timestamp:
        return None
    try:
        token = parse_token(f"{_value(secret, 'token-id')}.{_value(secret, 'token-secret')}")
    except ValueError:
        return None
    return token if token.secret_name == meta(secret).name else None


def _value(secret: core_v1.Secret, key: str) -> str:
    try:
        return base64.b64decode((secret.get("data") or {}).get(key, "")).decode()
    except ValueError:
        return ""
