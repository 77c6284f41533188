"""Corrects the usage in the status of ResourceQuotas, for example after deletions.

Admission adds the usage of each request to the status. This controller counts the existing objects instead. It reports
a lower usage only after a moment without admitted requests, because admitted objects may not exist yet. Source:
kube-controller-manager pkg/controller/resourcequota/resource_quota_controller.go (1.36).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any, Final

from sampan.client import Conflict, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, RESOURCE_QUOTAS, SERVICES
from sampan.component_base.views import POD_VIEW, Pod
from sampan.controllers.resource_quota.counted import CountedObjects
from sampan.controllers.status import status_of, write_status
from sampan.core.numbers.quantity import Quantity
from sampan.core.quota import Usage, add, evaluator_for, scope_selectors
from sampan.core.quota.usage import ZERO, amounts, most
from sampan.informer.ref import Ref
from sampan.informer.store.indexer import NAMESPACE_INDEX
from sampan.kinds import core_v1
from sampan.operator.builder import Builder
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.request import Request, Result
from sampan.resource import Object, ResourceInfo, meta
from sampan.wire import json

NAME: Final = "resourcequota-controller"
RESYNC_S: Final = 300.0
BATCH_S: Final = 0.05
SETTLE_S: Final = 0.5
"""Time a quota must be unchanged before a lower usage is reported."""
WORKERS: Final = 5


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    quotas = context.informer(RESOURCE_QUOTAS).indexer

    def quotas_beside(ref: Ref[Any]) -> Iterable[Request]:
        return [Request.of_key(key) for key in quotas.index_keys(NAMESPACE_INDEX, ref.namespace)]

    counted = CountedObjects(context, quotas_beside)
    (
        Builder(context.manager)
        .named(NAME)
        .for_(RESOURCE_QUOTAS)
        .watches(POD_VIEW, quotas_beside, predicates=[PredicateFuncs(None, _usage_changed, None)])
        .watches(SERVICES, quotas_beside)
        .watches(PERSISTENT_VOLUME_CLAIMS, quotas_beside)
        .watches_source(counted)
        .recheck_every(RESYNC_S)
        .with_options(max_concurrent_reconciles=WORKERS, debounce_s=BATCH_S)
        .complete(ResourceQuotaController(context, counted))
    )


class ResourceQuotaController:
    """Counts the objects in the scope of each quota."""

    def __init__(self, context: ControllerContext, counted: CountedObjects) -> None:
        self._clock = context.clock
        self._quotas = context.manager.client.resource(RESOURCE_QUOTAS, namespace="")
        self._informers = {
            info: context.informer(kind)
            for info, kind in (
                (POD_VIEW.info, POD_VIEW),
                (SERVICES, SERVICES),
                (PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUME_CLAIMS),
            )
        }
        self._counted = counted
        self._less: dict[Request, tuple[str, dt.datetime]] = {}
        """Quotas whose counted usage is lower than the reported one: version, and time of the first such count."""

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one quota. Raises `ApiError`, `TransportError`."""
        quota = await self._quotas.find(request)
        if quota is None:
            self._less.pop(request, None)
            return None
        found = await self._usage(quota)
        reported = amounts(status_of(quota).get("used"))
        settled = self._is_settled(request, quota, found, reported)
        if not settled:
            found = most(found, {limit: amount for limit, amount in reported.items() if limit in found})
        status = status_after(quota, found)
        if status is not None:
            try:
                await write_status(self._quotas, quota, status, optimistic_lock=True)
            except (Conflict, NotFound):
                return None  # The event of that change queues the quota again.
        return None if settled else Result(requeue_after_s=SETTLE_S)

    def _is_settled(self, request: Request, quota: core_v1.ResourceQuota, found: Usage, reported: Usage) -> bool:
        """Return True if the counted usage may be reported. A lower usage may be reported only after `SETTLE_S`.

        Admission reports the usage of objects before they exist and can be counted.
        """
        if all(amount >= reported.get(limit, amount) for limit, amount in found.items()):
            self._less.pop(request, None)
            return True
        version, now = meta(quota).resource_version, self._clock.now()
        before = self._less.get(request)
        if before is None or before[0] != version:
            self._less[request] = (version, now)
            return False
        return (now - before[1]).total_seconds() >= SETTLE_S

    async def _usage(self, quota: core_v1.ResourceQuota) -> Usage:
        """Return the usage of the quota's limits, as far as it can be counted."""
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

    def _sum(self, quota: core_v1.ResourceQuota, info: ResourceInfo, limits: Iterable[str]) -> Usage:
        """Return the usage of some limits by the objects of a resource in the quota's scopes."""
        evaluator, selectors = evaluator_for(info.gvr.group_resource), scope_selectors(quota)
        now = self._clock.now()
        total: Usage = {}
        for ref in self._informers[info].indexer.by_index(NAMESPACE_INDEX, meta(quota).namespace):
            obj = json.decode(ref.raw)
            if all(evaluator.in_scope(obj, selector) for selector in selectors):
                total = add(total, evaluator.usage(obj, now))
        return {limit: total.get(limit, ZERO) for limit in limits}


def status_after(quota: core_v1.ResourceQuota, found: Mapping[str, Quantity]) -> Object | None:
    """Return the status for the found usage; None if it has not changed.

    The reported usage of limits that cannot be counted stays.
    """
    hard = (quota.get("spec") or {}).get("hard") or {}
    before = status_of(quota)
    reported = before.get("used") or {}
    used = {limit: reported[limit] for limit in hard if limit in reported and limit not in found}
    used |= {limit: str(amount) for limit, amount in found.items()}
    same = "hard" in before and "used" in before and amounts(before["hard"]) == amounts(hard)
    if same and amounts(reported) == amounts(used):
        return None
    return {**before, "hard": hard, "used": used}


def _usage_changed(old: Ref[Any], new: Ref[Any]) -> bool:
    """Return True if a Pod's usage may have changed."""
    return old.generation != new.generation or _usage_fields(old.decode()) != _usage_fields(new.decode())


def _usage_fields(pod: Pod) -> tuple[object, ...]:
    return (pod.metadata.uid, pod.is_terminated, pod.metadata.deletion_timestamp)
