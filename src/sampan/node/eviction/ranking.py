"""Order in which Pods are evicted, and the text of an eviction.

Source: kubelet pkg/kubelet/eviction/helpers.go `rankMemoryPressure`, `rankDiskPressureFunc`, `evictionMessage` (1.36).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sampan.core.numbers.quantity import Format, Quantity
from sampan.core.numbers.resource_amounts import Amounts
from sampan.node.eviction.pressure import Signals, SignalValue
from sampan.node.eviction.thresholds import (
    IMAGE_FS,
    IMAGE_INODES,
    MEMORY,
    NODE_INODES,
    PIDS,
    RESOURCES,
    Threshold,
    text_of,
)


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Disk space and inodes that some files use."""

    bytes: int = 0
    inodes: int = 0

    def __add__(self, other: "DiskUse") -> "DiskUse":
        return DiskUse(self.bytes + other.bytes, self.inodes + other.inodes)


@dataclass(frozen=True, slots=True)
class ContainerUse:
    """Use of resources by a container."""

    name: str
    memory_bytes: int = 0
    root: DiskUse = field(default_factory=DiskUse)
    """Use of disk by the writable layer."""
    logs: DiskUse = field(default_factory=DiskUse)
    requests: Mapping[str, str | int | float] = field(default_factory=dict)
    """Quantities by resource."""

    def used(self, resource: str) -> int | None:
        """Return the use of a resource; None for one that is not measured for each container."""
        if resource == "memory":
            return self.memory_bytes
        return self.root.bytes + self.logs.bytes if resource == "ephemeral-storage" else None


@dataclass(frozen=True, slots=True)
class PodUse:
    """Use of resources by a Pod."""

    uid: str
    priority: int = 0
    requests: Amounts = field(default_factory=dict)
    """Requests of the whole Pod by resource."""
    containers: Sequence[ContainerUse] = ()
    volumes: Mapping[str, DiskUse] = field(default_factory=dict)
    """Local volumes by name."""
    processes: int = 0
    is_measured: bool = True
    """False if the runtime has no statistics of the Pod. Such a Pod is evicted first."""
    is_critical: bool = False

    @property
    def memory_bytes(self) -> int:
        """Memory in the working sets of the containers."""
        return sum(each.memory_bytes for each in self.containers)

    def disk(self, *, layers: bool = True, files: bool = True) -> DiskUse:
        """Return the use of disks: writable layers, and logs and volumes (`files`)."""
        parts = [each.root for each in self.containers] if layers else []
        if files:
            parts += [*(each.logs for each in self.containers), *self.volumes.values()]
        return sum(parts, DiskUse())


def ranked(pods: Iterable[PodUse], signal: str, *, has_image_disk: bool = False) -> list[PodUse]:
    """Return the Pods in the order of their eviction.

    Sort keys: no statistics first, then use above the request, then lower priority, then the excess over the request.
    """

    def order(pod: PodUse) -> tuple[bool, bool, int, int]:
        used, requested = _use(pod, signal, has_image_disk=has_image_disk), 0
        if signal != PIDS:
            requested = pod.requests.get(RESOURCES[signal], 0)
        exceeds = signal != PIDS and used > requested
        return pod.is_measured, not exceeds, pod.priority, requested - used

    return sorted(pods, key=order)


def _use(pod: PodUse, signal: str, *, has_image_disk: bool) -> int:
    if signal == MEMORY:
        return pod.memory_bytes
    if signal == PIDS:
        return pod.processes
    on_image_disk = signal in (IMAGE_FS, IMAGE_INODES)
    found = pod.disk(layers=on_image_disk or not has_image_disk, files=not (on_image_disk and has_image_disk))
    return found.inodes if signal in (NODE_INODES, IMAGE_INODES) else found.bytes


@dataclass(frozen=True, slots=True)
class EvictionText:
    """Message of an eviction, and annotations of its event."""

    message: str
    annotations: Mapping[str, str]


def eviction_text(pod: PodUse, threshold: Threshold, signals: Signals) -> EvictionText:
    """Return the text of an eviction because of a threshold."""
    resource, observed = RESOURCES[threshold.signal], signals[threshold.signal]
    message = f"The node was low on resource: {resource}. {_threshold_text(threshold, observed)}"
    names, usages = [], []
    for each in pod.containers:
        used, request = each.used(resource), Quantity.parse(str(each.requests.get(resource, "0")))
        if used is None or used <= request.value():
            continue
        usage = str(Quantity(used, 0, Format.BINARY_SI))
        message += (
            f"Container {each.name} was using {usage}, request is {request}, has larger consumption of {resource}. "
        )
        names.append(each.name)
        usages.append(usage)
    annotations = {
        "offending_containers": ",".join(names),
        "offending_containers_usage": ",".join(usages),
        "starved_resource": resource,
    }
    return EvictionText(message, annotations)


def _threshold_text(threshold: Threshold, observed: SignalValue) -> str:
    desired, available = threshold.of(observed.capacity), observed.available
    return (
        f"Threshold quantity: {text_of(threshold.signal, desired)}, available: {text_of(threshold.signal, available)}. "
    )
