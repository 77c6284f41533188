"""`AutoRegistration`: creates an APIService for every group version of this server, as clients of Kubernetes expect.

APIServices of built-in groups (label `onstart`) are reset at startup; later changes by users stay. APIServices of CRDs
(label `true`) are always reset. A kube-apiserver on the same store repeatedly deletes objects with the label `true`
that do not belong to a CRD. Both kinds are created again after a deletion (in Kubernetes, built-in ones only at the
next start). APIServices without the label are ignored.

Source: kube-aggregator pkg/controllers/autoregister, kubernetes pkg/controlplane/controller/crdregistration,
pkg/controlplane/apiserver/aggregator.go (1.36).
"""

import asyncio
import logging
from typing import Final

from sampan.core.errors import Reason, StatusError
from sampan.core.json.values import same
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.registry.definition import ResourceDefinition
from sampan.registry.write.own import create, delete, update
from sampan.server.aggregation.api_service import GROUP, RESOURCE
from sampan.server.aggregation.status import context_of, endpoint_of
from sampan.server.discovery.order import group_priority, version_priority
from sampan.storage.signal import Signal
from sampan.storage.store import STORE_ERRORS

AUTOMANAGED: Final = "kube-aggregator.kubernetes.io/automanaged"
ON_START: Final = "onstart"
ALWAYS: Final = "true"
RETRY_S: Final = 1.0
UNREGISTERED: Final = frozenset({GROUP, "metrics.k8s.io"})
"""Groups of this server without APIServices. For metrics.k8s.io only another server has one: charts and manifests that
create it must not find an object of this server in their place.
"""
_ALL: Final = "APIServices"
"""Single key: all APIServices are processed together."""

_log = logging.getLogger("sampan.aggregation")


class AutoRegistration:
    """Creates, updates and deletes APIServices."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._requested = Signal()
        self._dirty = False
        self._work = cluster.measures.work("autoregister")

    def notify(self) -> None:
        """Process APIServices soon, because they or the served resources have changed."""
        self._dirty = True
        self._work.add(_ALL)
        self._requested.notify()

    async def start(self) -> None:
        """Bring all APIServices to their desired state, including built-in ones. **Raises** `StatusError`."""
        await self._reconcile(started=False)

    async def run(self) -> None:
        """Keep the desired state, until cancelled."""
        unsubscribe = self._cluster.registry.subscribe(self.notify)
        try:
            while True:
                if not self._dirty:
                    await self._requested.wait()
                self._dirty = False
                try:
                    with self._work.at(_ALL):
                        await self._reconcile(started=True)
                except* (StatusError, *STORE_ERRORS) as group:
                    _log.warning("cannot register APIServices; trying again", extra={"error": str(group.exceptions[0])})
                    self._dirty = True
                    self._work.retries += 1
                    await asyncio.sleep(RETRY_S)
        finally:
            unsubscribe()

    async def _reconcile(self, *, started: bool) -> None:
        desired = {obj["metadata"]["name"]: obj for obj in self._desired()}
        present = {obj["metadata"]["name"]: obj for obj in self._cluster.reader.list(GROUP, RESOURCE)}
        async with asyncio.TaskGroup() as group:
            for name, obj in desired.items():
                before = present.get(name)
                if before is None:
                    group.create_task(self._create(obj))
                elif not same(before["spec"], obj["spec"]) and _is_kept(before, started):
                    group.create_task(self._repair(name, obj))
            for name, obj in present.items():
                if name not in desired and _is_kept(obj, started):
                    group.create_task(self._delete(obj))

    def _desired(self) -> list[Object]:
        """Return the desired APIServices for all served group versions; built-in ones first."""
        found: dict[tuple[str, str], str] = {}
        for definition in sorted(self._cluster.registry.definitions(), key=lambda each: not each.builtin):
            for version in definition.versions.values():
                key = (definition.group, version.name)
                if version.served and key not in found and definition.group not in UNREGISTERED:
                    found[key] = self._managed(definition)
        return [_api_service(group, version, managed) for (group, version), managed in found.items()]

    def _managed(self, definition: ResourceDefinition) -> str:
        name = f"{definition.resource}.{definition.group}"
        crd = self._cluster.reader.record("apiextensions.k8s.io", "customresourcedefinitions", "", name)
        return ON_START if definition.builtin or crd is None else ALWAYS

    async def _create(self, obj: Object) -> None:
        endpoint = endpoint_of(self._cluster)
        try:
            await create(endpoint.store, context_of(obj["metadata"]["name"]), obj, self._cluster.clock)
        except StatusError as error:
            if error.reason is not Reason.ALREADY_EXISTS:
                raise

    async def _repair(self, name: str, desired: Object) -> None:
        store = endpoint_of(self._cluster).store

        def edit(obj: Object, old: Object) -> Object:
            return {**obj, "spec": desired["spec"]}

        try:
            await update(store, context_of(name), edit, self._cluster.clock)
        except StatusError as error:
            if error.reason not in (Reason.NOT_FOUND, Reason.CONFLICT):
                raise

    async def _delete(self, obj: Object) -> None:
        metadata = obj["metadata"]
        store, ctx = endpoint_of(self._cluster).store, context_of(metadata["name"])
        try:
            await delete(store, ctx, self._cluster.clock, uid=metadata["uid"])
        except StatusError as error:
            if error.reason not in (Reason.NOT_FOUND, Reason.CONFLICT):
                raise


def _is_kept(obj: Object, started: bool) -> bool:
    """Return True if this server keeps the object in its desired state; built-in ones only until it has started."""
    managed = (obj["metadata"].get("labels") or {}).get(AUTOMANAGED)
    return managed == ALWAYS or (managed == ON_START and not started)


def _api_service(group: str, version: str, managed: str) -> Object:
    spec: Object = {
        "group": group,
        "version": version,
        "groupPriorityMinimum": group_priority(group),
        "versionPriority": version_priority(group, version, custom=managed == ALWAYS),
    }
    if not group:
        del spec["group"]
    return {
        "kind": "APIService",
        "apiVersion": f"{GROUP}/v1",
        "metadata": {"name": f"{version}.{group}", "labels": {AUTOMANAGED: managed}},
        "spec": spec,
    }
