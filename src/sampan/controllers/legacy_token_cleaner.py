"""The cleaner of tokens in Secrets: those that their account names and nobody has used for long are marked as invalid,
and go when nobody has missed them for as long again.

Concurrency: one task of the manager makes a pass now and then.
Source: kube-controller-manager pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go (1.36).
"""

import asyncio
import datetime as dt
import logging
from collections.abc import Iterable
from typing import Any, Final

from sampan.client import ClientError, Conflict, DeleteOptions, MergePatch, NotFound
from sampan.controllers.pod_secrets import secret_names
from sampan.core.legacy_token import (
    INVALID_SINCE_LABEL,
    LAST_USED_LABEL,
    TRACKING_KEY,
    TRACKING_NAME,
    TRACKING_NAMESPACE,
    format_day,
    parse_day,
)
from sampan.core.time import parse_time
from sampan.informer.ref import Ref
from sampan.loops.context import ControllerContext
from sampan.loops.resources import CONFIG_MAPS, PODS, SECRETS, SERVICE_ACCOUNTS
from sampan.resource import Object, meta

NAME: Final = "legacy-serviceaccount-token-cleaner-controller"
INTERVAL_S: Final = 24 * 3600.0
_TYPE: Final = "kubernetes.io/service-account-token"
_ACCOUNT: Final = "kubernetes.io/service-account.name"
_UID: Final = "kubernetes.io/service-account.uid"
_DAY: Final = dt.timedelta(days=1)

_log = logging.getLogger(f"sampan.{NAME}")


def set_up(context: ControllerContext) -> None:
    """Have the manager run it."""
    context.manager.add(LegacyTokenCleaner(context))


class LegacyTokenCleaner:
    """Marks, and a period later deletes. Secrets that somebody made by hand stay: no account names them."""

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
        """One pass. What fails is logged, and tried again in the next one."""
        now = self._clock.now()
        try:
            since = tracked_since(await self._config_maps.get(TRACKING_NAME))
        except (ClientError, ValueError) as error:
            _log.error("it is not known since when the use of tokens is tracked: %s", error)
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
                _log.error("the token in Secret %s is not looked at: %s", ref.key, error)

    async def _clean_one(self, secret: Object, before: dt.datetime, mounted: dict[str, set[str]]) -> None:
        """Mark or delete a Secret whose token nobody has used since `before`. `mounted`: what is known of Pods."""
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
            pass  # It is used, or has gone: the next pass sees it.

    def _is_generated(self, secret: Object) -> bool:
        """Whether the account that a Secret belongs to names it, as those are named that older controllers made."""
        found = meta(secret)
        name = found.annotations.get(_ACCOUNT, "")
        ref: Ref[Any] | None = self._accounts.indexer.get(f"{found.namespace}/{name}") if name else None
        if ref is None or found.annotations.get(_UID, "") not in ("", ref.uid):
            return False
        account: Object = ref.decode()
        return any(each.get("name") == found.name for each in account.get("secrets") or ())


def tracked_since(tracking: Object) -> dt.datetime:
    """From when on all uses are known: the day after the one that the ConfigMap says. Raises `ValueError`."""
    said = (tracking.get("data") or {}).get(TRACKING_KEY)
    if said is None:
        raise ValueError(f"the ConfigMap has no {TRACKING_KEY!r}")
    return parse_day(said) + _DAY


def is_unused(secret: Object, before: dt.datetime) -> bool:
    """Whether a Secret holds a token that is older than `before`, and that nobody has used since.

    Raises `ValueError` where the label of its last use is no day.
    """
    found = meta(secret)
    if secret.get("type") != _TYPE or found.deletion_timestamp:
        return False
    if parse_time(found.creation_timestamp or "") >= before:
        return False
    used = found.labels.get(LAST_USED_LABEL)
    return used is None or parse_day(used) < parse_day(format_day(before))


def _names(pods: Iterable[Object]) -> set[str]:
    return {name for pod in pods for name in secret_names(pod)}


def _is_day(text: str) -> bool:
    try:
        parse_day(text)
    except ValueError:
        return False
    return True
