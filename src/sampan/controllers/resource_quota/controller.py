"""The loop over ResourceQuotas.

The admission of requests adds to the status what they take; here it is counted what is really there, and less is told
only when nobody has been admitted for a moment. Source:
kube-controller-manager pkg/controller/resourcequota/resource_quota_controller.go (1.36).
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sampan.client import Conflict, NotFound
from sampan.controllers.resource_quota.counted import Counted
from sampan.controllers.status import status_of, write_status
from sampan.core.quantity import Quantity
from sampan.core.quota import Usage, add, evaluator_for, scope_selectors
from sampan.core.quota.usage import ZERO, amounts, most
from sampan.informer.indexer import NAMESPACE_INDEX
from sampan.informer.ref import Ref
from sampan.loops.context import ControllerContext
from sampan.loops.resources import PERSISTENT_VOLUME_CLAIMS, RESOURCE_QUOTAS, SERVICES
from sampan.loops.views import POD_VIEW, Pod
from sampan.operator.builder import Builder
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.request import Request, Result
from sampan.resource import Object, ResourceInfo, meta
from sampan.wire import json

NAME: Final = "resourcequota-controller"
RESYNC_S: Final = 300.0
BATCH_S: Final = 0.05
SETTLE_S: Final = 0.5
"""How long a quota must have been left alone before it tells of less."""
WORKERS: Final = 5


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    quotas = context.informer(RESOURCE_QUOTAS).indexer

    def quotas_beside(ref: Ref[Any]) -> Iterable[Request]:
        return [Request.of_key(key) for key in quotas.index_keys(NAMESPACE_INDEX, ref.namespace)]

    counted = Counted(context, quotas_beside)
    (
        Builder(context.manager)
        .named(NAME)
        .for_(RESOURCE_QUOTAS)
        .watches(POD_VIEW, quotas_beside, predicates=[PredicateFuncs(None, _takes_otherwise, None)])
        .watches(SERVICES, quotas_beside)
        .watches(PERSISTENT_VOLUME_CLAIMS, quotas_beside)
        .watches_source(counted)
        .recheck_every(RESYNC_S)
        .with_options(max_concurrent_reconciles=WORKERS, debounce_s=BATCH_S)
        .complete(ResourceQuotaController(context, counted))
    )


class ResourceQuotaController:
    """Counts."""

    def __init__(self, context: ControllerContext, counted: Counted) -> None:
        self._clock = context.clock
        self._quotas = context.manager.client.resource(RESOURCE_QUOTAS, namespace="")
        self._informers = {
            info: context.informer(what)
            for info, what in (
                (POD_VIEW.info, POD_VIEW),
                (SERVICES, SERVICES),
                (PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUME_CLAIMS),
            )
        }
        self._counted = counted
        self._less: dict[Request, tuple[str, dt.datetime]] = {}
        """Quotas that less is used of than they tell: their version then, and since when."""

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one quota. Raises `ApiError`, `TransportError`."""
        quota = await self._quotas.find(request)
        if quota is None:
            self._less.pop(request, None)
            return None
        found = await self._usage(quota)
        told = amounts(status_of(quota).get("used"))
        settled = self._is_settled(request, quota, found, told)
        if not settled:
            found = most(found, {limit: amount for limit, amount in told.items() if limit in found})
        status = status_after(quota, found)
        if status is not None:
            try:
                await write_status(self._quotas, quota, status, optimistic_lock=True)
            except (Conflict, NotFound):
                return None  # What has changed in it brings it here again.
        return None if settled else Result(requeue_after_s=SETTLE_S)

    def _is_settled(self, request: Request, quota: Object, found: Usage, told: Usage) -> bool:
        """Whether less may be told than before: admission tells of objects before they are there to be counted."""
        if all(amount >= told.get(limit, amount) for limit, amount in found.items()):
            self._less.pop(request, None)
            return True
        version, now = meta(quota).resource_version, self._clock.now()
        seen = self._less.get(request)
        if seen is None or seen[0] != version:
            self._less[request] = (version, now)
            return False
        return (now - seen[1]).total_seconds() >= SETTLE_S

    async def _usage(self, quota: Object) -> Usage:
        """What is used of the quota's limits, as far as somebody knows how to count it."""
        limits = set((quota.get("spec") or {}).get("hard") or ())
        total: Usage = {}
        for info in self._informers:
            concerned = {limit for limit in limits if evaluator_for(info.gvr.group_resource).concerns(limit)}
            if concerned:
                total |= self._sum(quota, info, concerned)
                limits -= concerned
        for limit in limits:
            resource = await self._counted.resource(limit)
            if resource is not None:
                refs = await self._counted.refs(resource, meta(quota).namespace)
                total[limit] = ZERO if scope_selectors(quota) else Quantity(len(refs))
        return total

    def _sum(self, quota: Object, info: ResourceInfo, limits: Iterable[str]) -> Usage:
        """What the objects of a resource that are in the quota's scopes take of some limits."""
        evaluator, selectors = evaluator_for(info.gvr.group_resource), scope_selectors(quota)
        now = self._clock.now()
        total: Usage = {}
        for ref in self._informers[info].indexer.by_index(NAMESPACE_INDEX, meta(quota).namespace):
            obj = json.decode(ref.raw)
            if all(evaluator.in_scope(obj, selector) for selector in selectors):
                total = add(total, evaluator.usage(obj, now))
        return {limit: total.get(limit, ZERO) for limit in limits}


def status_after(quota: Object, found: Mapping[str, Quantity]) -> Object | None:
    """The status for what was found; None when it says so. What nobody could count stays as it was told before."""
    hard = (quota.get("spec") or {}).get("hard") or {}
    before = status_of(quota)
    told = before.get("used") or {}
    used = {limit: told[limit] for limit in hard if limit in told and limit not in found}
    used |= {limit: str(amount) for limit, amount in found.items()}
    same = "hard" in before and "used" in before and amounts(before["hard"]) == amounts(hard)
    if same and amounts(told) == amounts(used):
        return None
    return {**before, "hard": hard, "used": used}


def _takes_otherwise(old: Ref[Any], new: Ref[Any]) -> bool:
    """Whether a Pod may take something else than before."""
    return old.generation != new.generation or _taking(old.decode()) != _taking(new.decode())


def _taking(pod: Pod) -> tuple[object, ...]:
    return (pod.metadata.uid, pod.is_terminated, pod.metadata.deletion_timestamp)
