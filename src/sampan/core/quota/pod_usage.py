"""Usage of quotas by Pods.

Source: kubernetes pkg/quota/v1/evaluator/core/pods.go; component-helpers resource/helpers.go (1.36).
"""

import datetime as dt
from collections.abc import Iterable
from typing import Final

from sampan.core.object import Object
from sampan.core.quota.usage import ONE, Usage, add, amounts, most
from sampan.core.time import add_seconds, parse_time

REQUESTS_PREFIX: Final = "requests."
LIMITS_PREFIX: Final = "limits."
HUGE_PAGES_PREFIX: Final = "hugepages-"
COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")


def pod_usage(pod: Object, now: dt.datetime) -> Usage:
    """Return the current usage of a Pod. A Pod that has ended, or is past its deadline, counts only as an object."""
    usage = {"count/pods": ONE}
    if not uses_resources(pod, now):
        return usage
    usage["pods"] = ONE
    return usage | _compute_usage(pod_requests(pod), pod_limits(pod))


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


def pod_requests(pod: Object) -> Usage:
    """Return the requests of a Pod: the maximum that runs at one time, plus its overhead."""
    return add(pod_spec_requests(pod), amounts((pod.get("spec") or {}).get("overhead")))


def pod_limits(pod: Object) -> Usage:
    """Return the limits of a Pod, plus its overhead for resources that have a limit."""
    limits = pod_spec_limits(pod)
    overhead = amounts((pod.get("spec") or {}).get("overhead"))
    return add(limits, {name: amount for name, amount in overhead.items() if limits.get(name)})


def pod_spec_requests(pod: Object) -> Usage:
    """Return the requests of a Pod without its overhead."""
    return _total(pod.get("spec") or {}, "requests")


def pod_spec_limits(pod: Object) -> Usage:
    """Return the limits of a Pod without its overhead."""
    return _total(pod.get("spec") or {}, "limits")


def _total(spec: Object, kind: str) -> Usage:
    """Sum the containers of a Pod, and take the peak while its init containers run.

    Containers run together. Init containers run one after another, except sidecars, which keep running.
    """
    running: Usage = {}
    for requested in _requested(spec.get("containers"), kind):
        running = add(running, requested)
    sidecars: Usage = {}
    peak: Usage = {}
    for container, requested in zip(
        spec.get("initContainers") or (), _requested(spec.get("initContainers"), kind), strict=True
    ):
        if container.get("restartPolicy") == "Always":
            sidecars = add(sidecars, requested)
            peak = most(peak, sidecars)
        else:
            peak = most(peak, add(sidecars, requested))
    total = most(add(running, sidecars), peak)
    whole = amounts((spec.get("resources") or {}).get(kind))
    return total | {
        name: amount
        for name, amount in whole.items()
        if name in ("cpu", "memory") or name.startswith(HUGE_PAGES_PREFIX)
    }


def _requested(containers: Iterable[Object] | None, kind: str) -> list[Usage]:
    return [amounts((container.get("resources") or {}).get(kind)) for container in containers or ()]
