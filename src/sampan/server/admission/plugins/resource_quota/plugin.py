"""The plug-in: checks requests against the quotas of their namespace, and writes their usage to the quotas.

Concurrency: there are no tasks. The requests of a namespace wait in a queue. The first that gets the queue's lock
checks all waiting requests in sequence, on running sums, and writes each changed quota once. A request continues only
after its usage is written, so concurrent requests never exceed a quota. A cancelled request leaves the queue. Its
written usage remains until the controller counts again, as for a request that fails after admission.

Source: k8s.io/apiserver pkg/admission/plugin/resourcequota/{admission,controller,resource_access}.go (1.36).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final

from sampan.core.errors import Reason, StatusError, conflict
from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.registry.crd.tracking import track_status
from sampan.registry.strategy import Context
from sampan.registry.write.own import UpdateOptions, update
from sampan.registry.write.write import Part
from sampan.server.admission.chain import Attributes
from sampan.server.admission.derived_cache import DerivedCache
from sampan.server.admission.plugins.resource_quota.check import check, is_counted
from sampan.server.admission.plugins.resource_quota.quota import Quota, read_limited, read_quota

TRIES_MAX: Final = 10
"""Maximum number of attempts to write a quota that other servers change."""
_USER: Final = "system:apiserver"
_QUOTAS: Final = GroupResource("", "resourcequotas")


@dataclass(slots=True, eq=False)
class _Demand:
    """Request in the queue."""

    attributes: Attributes
    refusal: StatusError | None = None
    settled: bool = False

    def refuse(self, error: StatusError) -> None:
        """Refuse the request."""
        self.refusal, self.settled = error, True


@dataclass(slots=True, eq=False)
class _Line:
    """Queue of a namespace. `users` counts the requests that use the queue."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: list[_Demand] = field(default_factory=list)
    users: int = 0


class ResourceQuota:
    """Validating plug-in. Runs after all others except AlwaysDeny, because refused requests must not use quota."""

    name: ClassVar[str] = "ResourceQuota"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = None
    configured_by: ClassVar[tuple[tuple[str, str], ...]] = ((_QUOTAS.group, _QUOTAS.resource),)

    def __init__(self, cluster: Cluster, configuration: Object) -> None:
        """Read the configuration. **Raises** `ValueError` if it is invalid."""
        self._cluster = cluster
        self._limited = read_limited(configuration)
        self._kept = DerivedCache(cluster.reader, _QUOTAS.group, _QUOTAS.resource, read_quota)
        self._lines: dict[str, _Line] = {}

    def is_configured(self) -> bool:
        """Return True if a quota exists in any namespace, or the configuration limits a resource."""
        return bool(self._limited or self._kept.list())

    async def validate(self, attributes: Attributes) -> None:
        """Check and record usage. **Raises** 403; 409 if other writers change the quotas permanently."""
        namespace = attributes.namespace
        if not namespace or (attributes.gvr.resource == "namespaces" and not attributes.gvr.group):
            return
        quotas = self._kept.list(namespace)
        if not (quotas or self._limited) or not is_counted(attributes):
            return
        after = check(quotas, attributes, self._limited, self._cluster.clock.now())
        if attributes.dry_run or all(one is other for one, other in zip(quotas, after, strict=True)):
            return
        await self._wait(namespace, _Demand(attributes))

    async def _wait(self, namespace: str, demand: _Demand) -> None:
        line = self._lines.setdefault(namespace, _Line())
        line.users += 1
        line.waiting.append(demand)
        try:
            async with line.lock:
                if not demand.settled:
                    await self._settle_waiting(namespace, line)
        finally:
            if demand in line.waiting:
                line.waiting.remove(demand)
            line.users -= 1
            if not line.users:
                del self._lines[namespace]
        if demand.refusal is not None:
            raise demand.refusal

    async def _settle_waiting(self, namespace: str, line: _Line) -> None:
        """Process all waiting requests. After an error, the next owner of the lock processes the rest."""
        batch, line.waiting = line.waiting, []
        try:
            await self._settle(namespace, batch)
        finally:
            line.waiting = [demand for demand in batch if not demand.settled] + line.waiting

    async def _settle(self, namespace: str, batch: Sequence[_Demand]) -> None:
        names: set[str] | None = None
        for _ in range(TRIES_MAX):
            quotas = await self._quotas_now(namespace, names)
            after = self._check_all(quotas, batch)
            names = set()
            for before, quota in zip(quotas, after, strict=True):
                if quota is not before and not await self._write(namespace, quota):
                    names.add(quota.name)
            if not names:
                break
        for demand in batch:
            if demand.settled:
                continue
            if names:
                demand.refuse(conflict(_QUOTAS, min(names), "it is written by others all the time; please try again"))
            demand.settled = True

    async def _quotas_now(self, namespace: str, names: set[str] | None) -> list[Quota]:
        """Return the current quotas. `names` selects the quotas whose write failed. The other quotas already contain
        the usage of the batch.
        """
        cache = self._cluster.endpoint(_QUOTAS.group, "v1", _QUOTAS.resource)
        assert cache is not None
        await cache.store.cache.fresh()
        return [quota for quota in self._kept.list(namespace) if names is None or quota.name in names]

    def _check_all(self, quotas: list[Quota], batch: Sequence[_Demand]) -> list[Quota]:
        now = self._cluster.clock.now()
        for demand in batch:
            if not demand.settled:
                try:
                    quotas = check(quotas, demand.attributes, self._limited, now)
                except StatusError as error:
                    demand.refuse(error)
        return quotas

    async def _write(self, namespace: str, quota: Quota) -> bool:
        """Write the usage; return False if the quota has changed or is gone."""
        endpoint = self._cluster.endpoint(_QUOTAS.group, "v1", _QUOTAS.resource)
        assert endpoint is not None
        quotas, clock = endpoint, self._cluster.clock

        def edit(obj: Object, old: Object) -> None:
            if old["metadata"]["resourceVersion"] != quota.revision:
                raise conflict(_QUOTAS, quota.name, "the quota has changed")
            used = {name: str(amount) for name, amount in quota.used.items()}
            obj["status"] = {**(obj.get("status") or {}), "used": used}
            track_status(quotas, old, obj, clock)

        ctx = Context(
            user=_USER, groups=("system:masters",), namespace=namespace, name=quota.name, subresource="status"
        )
        try:
            await update(quotas.store, ctx, edit, clock, UpdateOptions(part=Part.STATUS))
        except StatusError as error:
            if error.reason not in (Reason.CONFLICT, Reason.NOT_FOUND):
                raise
            return False
        return True
