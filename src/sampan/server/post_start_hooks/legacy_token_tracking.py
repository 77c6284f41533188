"""Track the use of tokens in Secrets: the day on which tracking began, and the day on which each token was last used.

Concurrency: `TrackingSince.run` is one task with a watch of one ConfigMap; it ends by cancellation.
Source: kubernetes pkg/controlplane/controller/legacytokentracking/controller.go, pkg/serviceaccount/legacy.go (1.36).
"""

import asyncio
import datetime as dt
import logging
from typing import Final

from sampan.core.errors import Reason, StatusError
from sampan.core.object import Object
from sampan.core.tokens.legacy import (
    LAST_USED_LABEL,
    TRACKING_KEY,
    TRACKING_NAME,
    TRACKING_NAMESPACE,
    format_day,
    parse_day,
)
from sampan.registry.cluster import Cluster
from sampan.registry.crd.tracking import track
from sampan.registry.endpoint import Endpoint
from sampan.registry.strategy import Context
from sampan.registry.write.own import UpdateOptions, create, update
from sampan.storage.records import CacheReset, WatcherTooSlow
from sampan.storage.store import STORE_ERRORS

CREATE_INTERVAL_S: Final = 30 * 60.0
"""Minimum interval between two creations, in case a controller deletes the ConfigMap each time."""
_PASSING: Final = (Reason.ALREADY_EXISTS, Reason.CONFLICT, Reason.NOT_FOUND)

_log = logging.getLogger("sampan.authentication")


class TrackingSince:
    """Maintains the ConfigMap with the day on which the tracking of uses began. Each server of a store runs
    this loop.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._create_at = 0.0

    async def run(self) -> None:
        """Create the ConfigMap, and replace an invalid day, until cancelled. Raises `StatusError`, `StoreError`."""
        while True:
            try:
                await self._follow()
            except (CacheReset, WatcherTooSlow):
                _log.info("watch of the ConfigMap %s was reset; watching again", TRACKING_NAME)

    async def _follow(self) -> None:
        store = self._endpoint.store
        async with store.cache.watch(store.cache.prefix, key=store.key(TRACKING_NAMESPACE, TRACKING_NAME)) as watcher:
            while True:
                wait_s = await self._settle()
                await watcher.next(wait_s)

    async def _settle(self) -> float | None:
        """Correct the ConfigMap. Return the seconds until the next check, or None if the next check is due only after a
        change.
        """
        present = self._cluster.reader.get("", "configmaps", TRACKING_NAMESPACE, TRACKING_NAME)
        if present is not None:
            if not _is_day((present.get("data") or {}).get(TRACKING_KEY, "")):
                await self._repair()
            return None
        now_s = asyncio.get_running_loop().time()
        if now_s < self._create_at:
            return self._create_at - now_s
        await self._create()
        self._create_at = now_s + CREATE_INTERVAL_S
        return None

    async def _create(self) -> None:
        obj: Object = {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {"name": TRACKING_NAME, "namespace": TRACKING_NAMESPACE},
            "data": {TRACKING_KEY: self._today()},
        }
        track(self._endpoint, None, obj, self._cluster.clock)
        try:
            await create(
                self._endpoint.store,
                _context(TRACKING_NAMESPACE, TRACKING_NAME),
                obj,
                self._cluster.clock,
            )
        except StatusError as error:
            if error.reason not in _PASSING:
                raise

    async def _repair(self) -> None:
        store = self._endpoint.store

        def edit(obj: Object, old: Object) -> None:
            obj["data"] = {**(obj.get("data") or {}), TRACKING_KEY: self._today()}
            track(self._endpoint, old, obj, self._cluster.clock)

        ctx = _context(TRACKING_NAMESPACE, TRACKING_NAME)
        try:
            await update(store, ctx, edit, self._cluster.clock)
        except StatusError as error:
            if error.reason not in _PASSING:
                raise

    @property
    def _endpoint(self) -> Endpoint:
        endpoint = self._cluster.endpoint("", "v1", "configmaps")
        assert endpoint is not None
        return endpoint

    def _today(self) -> str:
        return format_day(self._cluster.clock.now())


class LastUse:
    """Records on Secrets when their token was last used."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def note(self, secret: Object) -> None:
        """Record today, at most once a day. A failed write does not prevent the use of the token."""
        now = self._cluster.clock.now()
        today, tomorrow = format_day(now), format_day(now + dt.timedelta(days=1))
        metadata = secret["metadata"]
        if (metadata.get("labels") or {}).get(LAST_USED_LABEL) in (today, tomorrow):
            return  # It is tomorrow's date if the clock of another server is ahead.
        try:
            await self._write(metadata["namespace"], metadata["name"], metadata["uid"], today)
        except (StatusError, *STORE_ERRORS) as error:
            _log.error(
                "cannot record the last use of the token in Secret %s/%s: %s",
                metadata["namespace"],
                metadata["name"],
                error,
            )

    async def _write(self, namespace: str, name: str, uid: str, today: str) -> None:
        endpoint = self._cluster.endpoint("", "v1", "secrets")
        assert endpoint is not None

        def edit(obj: Object, old: Object) -> None:
            metadata = obj["metadata"]
            metadata["labels"] = {**(metadata.get("labels") or {}), LAST_USED_LABEL: today}
            track(endpoint, old, obj, self._cluster.clock)

        await update(endpoint.store, _context(namespace, name), edit, self._cluster.clock, UpdateOptions(uid=uid))


def _context(namespace: str, name: str) -> Context:
    return Context(user="system:apiserver", groups=("system:masters",), namespace=namespace, name=name)


def _is_day(text: str) -> bool:
    try:
        parse_day(text)
    except ValueError:
        return False
    return True
