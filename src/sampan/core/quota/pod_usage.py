"""Amounts with which a Pod counts in a ResourceQuota: requests, limits, objects.

Source: kubernetes pkg/quota/v1/evaluator/core/pods.go (1.36).
"""

import datetime as dt
from typing import Final

from sampan.core.object import Object
from sampan.core.pods import resources as pod_resources
from sampan.core.pods.resources import HUGE_PAGES_PREFIX, parts_of
from sampan.core.quota.usage import ONE, Usage, amounts
from sampan.core.time import add_seconds, parse_time

REQUESTS_PREFIX: Final = "requests."
LIMITS_PREFIX: Final = "limits."
COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")


def pod_usage(pod: Object, now: dt.datetime) -> Usage:
    """Return the current usage of a Pod. A Pod that has ended, or is past its deadline, counts only as an object."""
    usage = {"count/pods": ONE}
    if not uses_resources(pod, now):
        return usage
    usage["pods"] = ONE
    return usage | _compute_usage(pod_requests(pod, in_effect=True), pod_limits(pod, in_effect=True))


def container_usage(container: Object) -> Usage:
    """Return the resources of one container, by the names of quota limits."""
    resources = container.get("resources") or {}
    return _compute_usage(amounts(resources.get("requests")), amounts(resources.get("limits")))


def _compute_usage(requests: Usage, limits: Usage) -> Usage:
    usage: Usage = {}
    for name in COMPUTE:
        if name in requests:
            usage[name] = usage[REQUESTS_PREFIX + name] = requests[name]
        if name in limits:
            usage[LIMITS_PREFIX + name] = limits[name]
    for name, amount in requests.items():
        if name.startswith(HUGE_PAGES_PREFIX):
            usage[name] = usage[REQUESTS_PREFIX + name] = amount
        elif is_extended(name):
            usage[REQUESTS_PREFIX + name] = amount
    return usage


def uses_resources(pod: Object, now: dt.datetime) -> bool:
    """Report whether a Pod uses resources: it has not ended, and is not past its deletion deadline."""
    if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return False
    metadata = pod["metadata"]
    deleted_at, grace_s = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
    if not deleted_at or grace_s is None:
        return True
    return now <= add_seconds(parse_time(deleted_at), grace_s)


def is_extended(name: str) -> bool:
    """Report whether a resource is not defined by Kubernetes."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith(REQUESTS_PREFIX)


def pod_requests(pod: Object, *, in_effect: bool = False, overhead: bool = True) -> Usage:
    """Return the requests of a Pod. `in_effect`: as its node has applied them, see `pod_resources.parts_of`."""
    return pod_resources.pod_requests(parts_of(pod, "requests", amounts, in_effect=in_effect, overhead=overhead))


def pod_limits(pod: Object, *, in_effect: bool = False, overhead: bool = True) -> Usage:
    """Return the limits of a Pod. `in_effect`: as its node has applied them, see `pod_resources.parts_of`."""
    return pod_resources.pod_limits(parts_of(pod, "limits", amounts, in_effect=in_effect, overhead=overhead))
