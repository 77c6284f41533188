"""The namespace controller: empties a namespace that is being deleted, then removes its finalizer.

Source: kube-controller-manager pkg/controller/namespace/namespace_controller.go, deletion (1.36).

As in Kubernetes, a deletion is handled after five seconds: an API server may see the writes of another one late, and a
client that deletes a namespace may be about to finalize it. Remaining objects are checked again soon, then at growing
intervals of at most half of the estimated time.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from sampan.client import Conflict, NotFound
from sampan.client.retries.on_conflict import retry_on_conflict
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import NAMESPACES
from sampan.controllers.namespace.conditions import Findings, conditions_after
from sampan.controllers.namespace.content import NamespaceContent
from sampan.core.time import parse_time, timestamp
from sampan.informer.ref import Ref
from sampan.kinds import core_v1
from sampan.operator.builder import Builder
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.queue import BucketRateLimiter, ItemExponentialFailureRateLimiter, MaxOfRateLimiter
from sampan.operator.request import Request, Result, RetryLater
from sampan.resource import meta

NAME: Final = "namespace-controller"
FINALIZER: Final = "kubernetes"
"""Finalizer of this controller, in the spec of every namespace."""
WORKERS: Final = 10
_SOONEST_S: Final = 0.1


class ContentFailure(RetryLater):
    """Some content of a namespace could not be found or deleted; the message lists it."""


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    limiter = MaxOfRateLimiter(ItemExponentialFailureRateLimiter(0.005, 60.0), BucketRateLimiter(10.0, 100))
    (
        Builder(context.manager)
        .for_(NAMESPACES, predicates=[PredicateFuncs(_is_deleting, _starts_deleting, lambda _: False)])
        .named(NAME)
        .with_options(max_concurrent_reconciles=WORKERS, rate_limiter=limiter)
        .complete(NamespaceController(context))
    )


class NamespaceController:
    """Deletes the content of a namespace that is being deleted, then removes the finalizer."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client.direct
        self._clock = context.clock
        self._grace_s = context.namespace_grace_s
        self._namespaces = client.resource(NAMESPACES)
        self._content = NamespaceContent(client, context.clock)

    async def reconcile(self, request: Request) -> Result | None:
        """Make one pass.

        Raises `ContentFailure`, `ApiError`, `TransportError`; a later pass may succeed after any of them.
        """
        try:
            namespace = await self._namespaces.get(request.name)
            deleted_at = meta(namespace).deletion_timestamp
            if not deleted_at or not _has_finalizer(namespace):
                return None
            since_s = (self._clock.now() - parse_time(deleted_at)).total_seconds()
            if since_s < self._grace_s:
                return Result(self._grace_s - max(since_s, 0.0))
            return await self._empty(namespace, parse_time(deleted_at))
        except NotFound:
            return None

    async def _empty(self, namespace: core_v1.Namespace, deleted_at: dt.datetime) -> Result | None:
        # First, because the server then refuses new objects in the namespace; else deleting could go on forever.
        namespace = await self._terminate(namespace)
        findings = await self._content.delete(meta(namespace).name, deleted_at)
        await self._write_conditions(namespace, findings)
        if findings.failures:
            raise ContentFailure(", ".join(findings.failures))
        if findings.remaining:
            return Result(self._pause_s(findings.estimate_s, deleted_at))
        await self._finalize(namespace)
        return None

    def _pause_s(self, estimate_s: int, deleted_at: dt.datetime) -> float:
        """Return the seconds until the next pass.

        It grows with the time the deletion has taken so far, up to half of the estimated time.
        """
        taken_s = (self._clock.now() - deleted_at).total_seconds()
        return min(estimate_s // 2 + 1, max(taken_s / 4, _SOONEST_S))

    async def _terminate(self, namespace: core_v1.Namespace) -> core_v1.Namespace:
        """Set the phase to Terminating. Usually the server has done so already."""
        if (namespace.get("status") or {}).get("phase") == "Terminating":
            return namespace
        status: core_v1.NamespaceStatus = {**(namespace.get("status") or {}), "phase": "Terminating"}
        return await self._namespaces.update_status({**namespace, "status": status})

    async def _write_conditions(self, namespace: core_v1.Namespace, findings: Findings) -> None:
        """Write the conditions. After a conflict with another writer, the next pass writes them."""
        status = namespace.get("status") or {}
        conditions = conditions_after(status.get("conditions") or (), findings, timestamp(self._clock))
        if conditions == status.get("conditions"):
            return
        try:
            await self._namespaces.update_status({**namespace, "status": {**status, "conditions": conditions}})
        except Conflict:
            pass

    async def _finalize(self, namespace: core_v1.Namespace) -> None:
        """Remove the finalizer from the namespace that was emptied, identified by its UID.

        The server removes the namespace with its last finalizer.
        """
        name, uid = meta(namespace).name, meta(namespace).uid

        async def attempt() -> None:
            latest = await self._namespaces.get(name)
            if meta(latest).uid != uid or not _has_finalizer(latest):
                return
            # Other finalizers belong to other controllers, which may still have work to do.
            others = sorted(set(latest["spec"]["finalizers"]) - {FINALIZER})
            finalized = {**latest, "spec": {**latest["spec"], "finalizers": others}}
            await self._namespaces.subresource("finalize").update(name, finalized)

        await retry_on_conflict(attempt)


def _has_finalizer(namespace: core_v1.Namespace) -> bool:
    return FINALIZER in ((namespace.get("spec") or {}).get("finalizers") or ())


def _is_deleting(ref: Ref[Any]) -> bool:
    # The search of the raw bytes is fast and excludes nearly all namespaces. Only a match is decoded.
    return b'"deletionTimestamp"' in ref.raw and ref.deletion_timestamp is not None


def _starts_deleting(old: Ref[Any], new: Ref[Any]) -> bool:
    return _is_deleting(new) and (old.uid != new.uid or not _is_deleting(old))
