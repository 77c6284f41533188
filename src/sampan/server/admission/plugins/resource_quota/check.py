"""Check of a request against quotas. Writes nothing.

Source: k8s.io/apiserver pkg/admission/plugin/resourcequota/controller.go `CheckRequest`; kubernetes
pkg/quota/v1/evaluator/core/ (1.36).
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Final

from sampan.core.object import Object
from sampan.core.quota import Evaluator, Usage, add, evaluator_for
from sampan.core.quota.pod_usage import container_usage
from sampan.core.quota.scopes import is_terminating
from sampan.core.quota.usage import ZERO
from sampan.server.admission.chain import Attributes
from sampan.server.admission.plugins.resource_quota.quota import LimitedResource, Quota, shown
from sampan.server.admission.refusal import plain_error, refusal

_REQUIRED: Final = frozenset({"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"})
_CLAIM_SCOPE: Final = ("allocatedResources", "currentVolumeAttributesClassName", "modifyVolumeStatus")
_NO_SUBRESOURCE: Final = frozenset({"services", "resourceclaims"})


def is_counted(attributes: Attributes) -> bool:
    """Return True if the request may use a quota."""
    gvr, obj, old = attributes.gvr, attributes.obj, attributes.old
    operation, subresource = attributes.operation, attributes.subresource
    name = gvr.resource if gvr.group in ("", "resource.k8s.io") else ""
    if obj is None:
        return False
    if name == "pods":
        return _pod_is_counted(operation, subresource, obj, old)
    if name == "persistentvolumeclaims":
        if subresource == "status":
            before, after = (old or {}).get("status") or {}, obj.get("status") or {}
            return any(before.get(part) != after.get(part) for part in _CLAIM_SCOPE)
        return not subresource
    if name in _NO_SUBRESOURCE:
        return not subresource
    return operation == "CREATE" and not subresource


def _pod_is_counted(operation: str, subresource: str, pod: Object, old: Object | None) -> bool:
    if subresource == "resize":
        return operation == "UPDATE"
    if subresource:
        return False
    if operation == "CREATE" or old is None:
        return operation == "CREATE"
    return is_terminating(old) != is_terminating(pod)


def check(
    quotas: Sequence[Quota], attributes: Attributes, limited: Sequence[LimitedResource], now: dt.datetime
) -> list[Quota]:
    """Return the quotas with the request's usage added, in the same order. **Raises** 403."""
    return _Request(attributes, now).check(quotas, limited)


class _Request:
    """Check of one request."""

    def __init__(self, attributes: Attributes, now: dt.datetime) -> None:
        assert attributes.obj is not None
        self._attributes = attributes
        self._now = now
        self._obj: Object = attributes.obj
        self._evaluator: Evaluator = evaluator_for(attributes.gvr.group_resource)

    def check(self, quotas: Sequence[Quota], limited: Sequence[LimitedResource]) -> list[Quota]:
        matching = {quota.name: quota for quota in quotas if self._matches(quota, self._obj)}
        for quota in matching.values():
            self._check_constraints(quota)
        usage = self._evaluator.usage(self._obj, self._now)
        negative = sorted(name for name, amount in usage.items() if amount < ZERO)
        if negative:
            raise refusal(self._attributes, f"quota usage is negative for resource(s): {','.join(negative)}")
        deltas = {quota.name: self._delta(quota, usage) for quota in matching.values()}
        taken = deltas.values() if deltas else [self._delta(None, usage)]
        if any(taken):
            self._check_covered(quotas, matching, limited)
        return [self._charged(quota, deltas[quota.name]) if deltas.get(quota.name) else quota for quota in quotas]

    def _matches(self, quota: Quota, obj: Object) -> bool:
        if not any(self._evaluator.concerns(name) for name in quota.hard):
            return False
        return all(self._evaluator.in_scope(obj, selector) for selector in quota.selectors)

    def _check_constraints(self, quota: Quota) -> None:
        """Check that containers specify all resources that the quota limits, and that the quota's usage is known."""
        names = sorted(name for name in quota.hard if self._evaluator.concerns(name))
        gvr = self._attributes.gvr
        if (gvr.group, gvr.resource) == ("", "pods"):
            text = _missing(self._obj["spec"], _REQUIRED.intersection(names))
            if text:
                raise refusal(self._attributes, f"failed quota: {quota.name}: must specify {text}")
        if any(name not in quota.used for name in names):
            text = f"status unknown for quota: {quota.name}, resources: {','.join(names)}"
            raise refusal(self._attributes, text)

    def _delta(self, quota: Quota | None, usage: Usage) -> Usage:
        """Return the additional usage: for an update the difference, if the quota has counted the old object."""
        old = self._attributes.old
        if self._attributes.operation == "UPDATE" and old is not None and (quota is None or self._matches(quota, old)):
            before = self._evaluator.usage(old, self._now)
            usage = {name: amount - before.get(name, ZERO) for name, amount in usage.items()}
        return {name: amount for name, amount in usage.items() if amount > ZERO}

    def _check_covered(
        self, quotas: Sequence[Quota], matching: dict[str, Quota], limited: Sequence[LimitedResource]
    ) -> None:
        """Check that quotas cover the limited resources. **Raises** 403; 500 for scopes, as Kubernetes does."""
        if not limited:
            return
        usage = self._evaluator.usage(self._obj, self._now)
        resource = (self._attributes.gvr.group, self._attributes.gvr.resource)
        parts = [part for each in limited if (each.group, each.resource) == resource for part in each.contains]
        names = {name for name, amount in usage.items() if amount > ZERO and any(part in name for part in parts)}
        covered = {name for quota in matching.values() for name in quota.hard if self._evaluator.concerns(name)}
        if names - covered:
            raise refusal(self._attributes, f"insufficient quota to consume: {','.join(sorted(names - covered))}")
        scopes = self._in_scopes(scope for each in limited for scope in each.scopes)
        known = {
            scope["scopeName"] for scope in self._in_scopes(scope for quota in quotas for scope in quota.selectors)
        }
        missing = [_scope_text(scope) for scope in scopes if scope["scopeName"] not in known]
        if missing:
            raise plain_error(f"insufficient quota to match these scopes: [{' '.join(missing)}]")

    def _in_scopes(self, selectors: Iterable[Object]) -> list[Object]:
        return [selector for selector in selectors if self._evaluator.in_scope(self._obj, selector)]

    def _charged(self, quota: Quota, delta: Usage) -> Quota:
        requested = {name: amount for name, amount in delta.items() if name in quota.hard}
        used = add(quota.used, requested)
        if self._attributes.subresource != "status":
            exceeded = [name for name in requested if used[name] > quota.hard[name]]
            if exceeded:
                over, before, limit = (
                    shown({name: part[name] for name in exceeded}) for part in (requested, quota.used, quota.hard)
                )
                text = f"exceeded quota: {quota.name}, requested: {over}, used: {before}, limited: {limit}"
                raise refusal(self._attributes, text)
        return quota.with_used(used)


def _missing(spec: Object, required: frozenset[str]) -> str:
    """Return the limited resources that containers do not specify; empty if the Pod specifies them."""
    if not required or any((spec.get("resources") or {}).get(part) for part in ("requests", "limits")):
        return ""
    silent: dict[str, set[str]] = {}
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        for name in required - container_usage(container).keys():
            silent.setdefault(name, set()).add(container["name"])
    return "; ".join(f"{name} for: {','.join(sorted(silent[name]))}" for name in sorted(silent))


def _scope_text(scope: Object) -> str:
    values = " ".join(scope.get("values") or ())
    return f"{{{scope['scopeName']} {scope.get('operator', '')} [{values}]}}"
