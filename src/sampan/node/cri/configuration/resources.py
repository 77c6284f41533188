"""Resources of a container as fields of CRI's messages: CPU shares and quota, memory limit, OOM score.

Source: kubelet pkg/kubelet/cm/helpers_linux.go, pkg/kubelet/kuberuntime/kuberuntime_container_linux.go
`calculateLinuxResources`, pkg/kubelet/qos/policy.go (1.36).
"""

from typing import Final

from sampan.core.numbers.resource_amounts import amounts
from sampan.node.cri.messages import AnyMessage, message
from sampan.node.views.container import ResourceRequirements

CPU_PERIOD_US: Final = 100_000
SHARES_MIN: Final = 2
SHARES_MAX: Final = 262_144
QUOTA_US_MIN: Final = 1000
OOM_GUARANTEED: Final = -997
OOM_BEST_EFFORT: Final = 1000


def linux_resources(resources: ResourceRequirements, *, oom_score: int) -> AnyMessage:
    """Return the LinuxContainerResources of a container."""
    requests, limits = amounts(resources.requests), amounts(resources.limits)
    # Without a request, the API server has set it to the limit; a container from a static manifest may lack both.
    request_m = requests.get("cpu", limits.get("cpu", 0))
    return message("LinuxContainerResources")(
        cpu_period=CPU_PERIOD_US,
        cpu_quota=cpu_quota_us(limits.get("cpu", 0)),
        cpu_shares=cpu_shares(request_m),
        memory_limit_in_bytes=limits.get("memory", 0),
        oom_score_adj=oom_score,
    )


def cpu_shares(cpu_m: int) -> int:
    """Return the weight of a CPU request in thousandths of a core."""
    return max(SHARES_MIN, min(SHARES_MAX, cpu_m * 1024 // 1000))


def cpu_quota_us(limit_m: int) -> int:
    """Return the CPU time in each period for a limit in thousandths of a core; 0 without a limit."""
    return max(QUOTA_US_MIN, limit_m * CPU_PERIOD_US // 1000) if limit_m else 0


def oom_score(qos_class: str, memory_request: int, memory_capacity: int) -> int:
    """Return the OOM score of a container: the kernel kills containers with a high score first.

    A burstable container that requests much of the node's memory gets a low score. The score stays between those of
    guaranteed and best-effort containers.
    """
    if qos_class == "Guaranteed":
        return OOM_GUARANTEED
    if qos_class == "BestEffort" or memory_capacity <= 0:
        return OOM_BEST_EFFORT
    score = OOM_BEST_EFFORT - OOM_BEST_EFFORT * memory_request // memory_capacity
    return max(OOM_BEST_EFFORT + OOM_GUARANTEED, min(OOM_BEST_EFFORT - 1, score))
