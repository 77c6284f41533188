"""Quality of service class of a pod. Source: pkg/apis/core/helper/qos/qos.go (1.36)."""

from __future__ import annotations

from sampan.core.object import Object
from sampan.core.quota.usage import Usage
from sampan.kinds import core_v1
from sampan.registry.rules.quantities import amount

_COMPUTE = ("cpu", "memory")


def compute_qos(spec: core_v1.PodSpec) -> str:
    """Return `Guaranteed`, `Burstable` or `BestEffort`, from the resources of the pod or of its containers."""
    if spec.get("resources") is not None:
        everything = [spec["resources"]]
    else:
        everything = [c.get("resources") or {} for kind in ("containers", "initContainers") for c in spec.get(kind, ())]
    requests: Usage = {}
    limits: Usage = {}
    guaranteed = True
    for resources in everything:
        _add(requests, resources.get("requests"))
        if _add(limits, resources.get("limits")) < len(_COMPUTE):
            guaranteed = False
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if guaranteed and requests == limits else "Burstable"


def _add(total: Usage, amounts: dict[str, str] | None) -> int:
    """Add the positive amounts to the total. Return the number of resources that have a positive amount."""
    found = 0
    if amounts:
        for name in _COMPUTE:
            text = amounts.get(name)
            if text is not None:
                quantity = amount(text)
                if quantity.unscaled > 0:
                    total[name] = total[name] + quantity if name in total else quantity
                    found += 1
    return found


def pod_qos(pod: Object) -> str:
    """Return the class in the status, or compute it if the status has none."""
    return (pod.get("status") or {}).get("qosClass") or compute_qos(pod.get("spec") or {"containers": []})
