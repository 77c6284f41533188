"""The cleaner of legacy service account tokens in Secrets.

If a token is unused and its service account references it, the cleaner marks the token as invalid. It deletes the token
after another period without use.

Concurrency: one task of the manager makes a pass every `INTERVAL_S`.
Source: kube-controller-manager pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go (1.36).
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
from collections.abc import Iterable
from typing import Any, Final

from sampan.client import ClientError, Conflict, DeleteOptions, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CONFIG_MAPS, PODS, SECRETS, SERVICE_ACCOUNTS
from sampan.controllers.tokens.pod_secrets import secret_names
from sampan.core.time import parse_time
from sampan.core.tokens.legacy import (
    INVALID_SINCE_LABEL,
    LAST_USED_LABEL,
    TRACKING_KEY,
    TRACKING_NAME,
    TRACKING_NAMESPACE,
    format_day,
    parse_day,
)
from sampan.informer.ref import Ref
from sampan.kinds import core_v1
from sampan.resource import meta

NAME: Final = "legacy-serviceaccount-token-cleaner-controller"
INTERVAL_S: Final = 24 * 3600.0
_TYPE: Final = "kubernetes.io/service-account-token"
_ACCOUNT: Final = "kubernetes.io/service-account.name"
_UID: Final = "kubernetes.io/service-account.uid"
_DAY: Final = dt.timedelta(days=1)

_log = logging.getLogger(f"sampan.{NAME}")


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    context.manager.add(LegacyTokenCleaner(context))


class LegacyTokenCleaner:
    """Marks unused tokens, and deletes them a period later. Secrets that no service account references are kept."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._clock = context.clock
        self._period = dt.timedelta(seconds=context.legacy_token_clean_up_period_s)
        self._accounts = context.informer(SERVICE_ACCOUNTS)
        self._informer = context.informer(SECRETS)
        self._secrets = client.resource(SECRETS, namespace="")
        self._pods = client.direct.resource(PODS, namespace="")
        self._config_maps = client.direct.resource(CONFIG_MAPS, namespace=TRACKING_NAMESPACE)

    def __str__(self) -> str:
        return NAME

    async def run(self) -> None:
        """Make passes until cancelled."""
        await self._accounts.synced()
        await self._informer.synced()
        while True:
            await self.clean()
            await asyncio.sleep(INTERVAL_S)

    async def clean(self) -> None:
        """Make one pass. Failures are logged, and the next pass retries them."""
        now = self._clock.now()
        try:
            since = tracked_since(await self._config_maps.get(TRACKING_NAME))
        except (ClientError, ValueError) as error:
            _log.error("cannot read since when token use is tracked; no token is cleaned: %s", error)
            return
        if now < since + self._period:
            return
        before = now - self._period
        mounted: dict[str, set[str]] = {}
        for ref in self._informer.indexer.refs():
            if _TYPE.encode() not in ref.raw:
                continue
            try:
                secret = ref.decode()
                if is_unused(secret, before) and self._is_generated(secret):
                    await self._clean_one(secret, before, mounted)
            except (ClientError, ValueError) as error:
                _log.error("cannot check the token in Secret %s: %s", ref.key, error)

    async def _clean_one(self, secret: core_v1.Secret, before: dt.datetime, mounted: dict[str, set[str]]) -> None:
        """Mark or delete a Secret whose token has not been used since `before`.

        `mounted` caches the names of the Secrets that Pods use, by namespace.
        """
        found = meta(secret)
        if found.namespace not in mounted:
            mounted[found.namespace] = _names(await self._pods.in_namespace(found.namespace).list())
        if found.name in mounted[found.namespace]:
            return
        secrets = self._secrets.in_namespace(found.namespace)
        invalid = found.labels.get(INVALID_SINCE_LABEL, "")
        try:
            if not _is_day(invalid):
                labels = {INVALID_SINCE_LABEL: format_day(self._clock.now())}
                await secrets.patch(found.name, MergePatch({"metadata": {"uid": found.uid, "labels": labels}}))
            elif invalid < format_day(before):
                await secrets.delete(found.name, DeleteOptions(resource_version=found.resource_version))
        except (NotFound, Conflict):
            pass  # The Secret was used or deleted meanwhile; the next pass reads it again.

    def _is_generated(self, secret: core_v1.Secret) -> bool:
        """Return True if the Secret's service account references it. Older token controllers added that reference."""
        found = meta(secret)
        name = found.annotations.get(_ACCOUNT, "")
        ref: Ref[Any] | None = self._accounts.indexer.get(f"{found.namespace}/{name}") if name else None
        if ref is None or found.annotations.get(_UID, "") not in ("", ref.uid):
            return False
        account: core_v1.ServiceAccount = ref.decode()
        return any(each.get("name") == found.name for each in account.get("secrets") or ())


def tracked_since(tracking: core_v1.ConfigMap) -> dt.datetime:
    """Return the time from which all uses of tokens are recorded: the day after the date in the ConfigMap.

    Raises `ValueError` if the date is missing or invalid.
    """
    date = (tracking.get("data") or {}).get(TRACKING_KEY)
    if date is None:
        raise ValueError(f"the ConfigMap has no {TRACKING_KEY!r}")
    return parse_day(date) + _DAY


def is_unused(secret: core_v1.Secret, before: dt.datetime) -> bool:
    """Return True if a Secret holds a token that was created before `before` and has not been used since.

    Raises `ValueError` if the label with the last use is not a date.
    """
    found = meta(secret)
    if secret.get("type") != _TYPE or found.deletion_timestamp:
        return False
    if parse_time(found.creation_timestamp or "") >= before:
        return False
    used = found.labels.get(LAST_USED_LABEL)
    return used is None or parse_day(used) < parse_day(format_day(before))


def _names(pods: Iterable[core_v1.Pod]) -> set[str]:
    return {name for pod in pods for name in secret_names(pod)}


def _is_day(text: str) -> bool:
    try:
        parse_day(text)
    except ValueError:
        return False
    return True
