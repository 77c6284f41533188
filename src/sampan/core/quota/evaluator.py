"""Evaluators: for each resource, the names of the quota limits that apply to it, and the usage of an object.

Source: kubernetes pkg/quota/v1/evaluator/core/ (1.36).
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sampan.core.gvk import GroupResource
from sampan.core.numbers.quantity import Quantity
from sampan.core.object import Object
from sampan.core.pods.resources import HUGE_PAGES_PREFIX
from sampan.core.quota.pod_usage import (
    COMPUTE,
    LIMITS_PREFIX,
    REQUESTS_PREFIX,
    is_extended,
    pod_usage,
)
from sampan.core.quota.scopes import claim_is_in_scope, pod_is_in_scope
from sampan.core.quota.usage import ONE, ZERO, Usage, amounts

_OF_CLASS: Final = ".storageclass.storage.k8s.io/"
_CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
_PODS: Final = (
    "pods",
    *COMPUTE,
    *(REQUESTS_PREFIX + name for name in COMPUTE),
    *(LIMITS_PREFIX + name for name in COMPUTE),
)
_SERVICES: Final = ("services", "services.nodeports", "services.loadbalancers")
_CLAIMS: Final = ("persistentvolumeclaims", "requests.storage")
_COUNTED_BY_NAME: Final = ("configmaps", "replicationcontrollers", "resourcequotas", "secrets")


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Quota rules of one resource."""

    concerns: Callable[[str], bool]
    """Reports whether a limit with this name applies to the resource."""
    usage: Callable[[Object, dt.datetime], Usage]
    """Returns the usage of an object at an instant. Raises `ValueError` for an invalid amount."""
    in_scope: Callable[[Object, Object], bool]
    """Reports whether an object matches a requirement of a quota (`scope_selectors`)."""


def object_count_name(resource: GroupResource) -> str:
    """Return the name of the limit on the number of objects: `count/deployments.apps`."""
    return f"count/{resource}"


def evaluator_for(resource: GroupResource) -> Evaluator:
    """Return the evaluator of a resource. For most resources it only counts objects."""
    counted = object_count_name(resource)
    name = resource.resource if not resource.group else ""
    if name == "pods":
        return Evaluator(lambda limit: limit == counted or _is_of_pods(limit), pod_usage, pod_is_in_scope)
    if name == "services":
        return Evaluator(lambda limit: limit == counted or limit in _SERVICES, _service_usage, _in_no_scope)
    if name == "persistentvolumeclaims":
        return Evaluator(lambda limit: limit == counted or _is_of_claims(limit), _claim_usage, claim_is_in_scope)
    names = (counted, name) if name in _COUNTED_BY_NAME else (counted,)
    return Evaluator(lambda limit: limit in names, lambda _obj, _now: dict.fromkeys(names, ONE), _in_no_scope)


def _in_no_scope(_obj: Object, _selector: Object) -> bool:
    return False


def _is_of_pods(limit: str) -> bool:
    if limit in _PODS or limit.startswith((HUGE_PAGES_PREFIX, REQUESTS_PREFIX + HUGE_PAGES_PREFIX)):
        return True
    return limit.startswith(REQUESTS_PREFIX) and is_extended(limit.removeprefix(REQUESTS_PREFIX))


def _is_of_claims(limit: str) -> bool:
    return limit in _CLAIMS or limit.endswith(tuple(_OF_CLASS + name for name in _CLAIMS))


def _service_usage(service: Object, _now: dt.datetime) -> Usage:
    spec = service.get("spec") or {}
    ports = spec.get("ports") or ()
    kind = spec.get("type")
    node_ports = len(ports) if kind in ("NodePort", "LoadBalancer") else 0
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
        node_ports = sum(bool(port.get("nodePort")) for port in ports)
    return {
        "count/services": ONE,
        "services": ONE,
        "services.nodeports": Quantity(node_ports),
        "services.loadbalancers": ONE if kind == "LoadBalancer" else ZERO,
    }


def _claim_usage(claim: Object, _now: dt.datetime) -> Usage:
    spec = claim.get("spec") or {}
    usage = {"count/persistentvolumeclaims": ONE, "persistentvolumeclaims": ONE}
    storage = amounts((spec.get("resources") or {}).get("requests")).get("storage")
    if storage is not None:
        allocated = amounts((claim.get("status") or {}).get("allocatedResources")).get("storage", storage)
        usage["requests.storage"] = _whole(max(storage, allocated))
    annotated = (claim["metadata"].get("annotations") or {}).get(_CLASS_ANNOTATION)
    storage_class = annotated if annotated is not None else spec.get("storageClassName")
    if storage_class:
        usage |= {f"{storage_class}{_OF_CLASS}{name}": usage[name] for name in _CLAIMS if name in usage}
    return usage


def _whole(amount: Quantity) -> Quantity:
    """Round up to whole bytes."""
    return amount if amount.scale >= 0 else Quantity(amount.value(), 0, amount.format)
