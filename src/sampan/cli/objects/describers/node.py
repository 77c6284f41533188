"""Nodes, with their lease and the requests of their Pods."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sampan.cli.objects.describers.describer import (
    DescribedObject,
    Describer,
    DescriptionRow,
    RelatedObjects,
    at,
    lines_of,
    rows,
)
from sampan.cli.objects.describers.scheduling import taints
from sampan.cli.objects.describers.values import (
    ANNOTATIONS,
    CREATED,
    LABELS,
    NAME,
    conditions,
    resource_lines,
    since,
    time,
)
from sampan.client import ListOptions
from sampan.core.numbers.quantity import Quantity
from sampan.core.quota.pod_usage import pod_limits, pod_requests
from sampan.core.quota.usage import ZERO, Usage, add, amounts
from sampan.resource import Object

_ROLE: Final = "node-role.kubernetes.io/"
_OLD_ROLE: Final = "kubernetes.io/role"
_COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")
_CONDITION: Final = ("Type", "Status", "LastHeartbeatTime", "LastTransitionTime", "Reason", "Message")
_SYSTEM_INFO: Final = (
    DescriptionRow("Machine ID", "machineID", default=""),
    DescriptionRow("System UUID", "systemUUID", default=""),
    DescriptionRow("Boot ID", "bootID", default=""),
    DescriptionRow("Kernel Version", "kernelVersion", default=""),
    DescriptionRow("OS Image", "osImage", default=""),
    DescriptionRow("Operating System", "operatingSystem", default=""),
    DescriptionRow("Architecture", "architecture", default=""),
    DescriptionRow("Container Runtime Version", "containerRuntimeVersion", default=""),
    DescriptionRow("Kubelet Version", "kubeletVersion", default=""),
)
_LEASE: Final = (
    DescriptionRow("HolderIdentity", "spec.holderIdentity", default="<unset>"),
    DescriptionRow("AcquireTime", "spec.acquireTime", time, default="<unset>"),
    DescriptionRow("RenewTime", "spec.renewTime", time, default="<unset>"),
)


def _roles(node: Object) -> str:
    found = set()
    for key, value in (at(node, "metadata.labels") or {}).items():
        role = value if key == _OLD_ROLE else key.removeprefix(_ROLE) if key.startswith(_ROLE) else ""
        found.add(role)
    return ",".join(sorted(found - {""})) or "<none>"


def _lease(subject: DescribedObject) -> Iterator[str]:
    leases = subject.related.get("lease")
    if not leases:
        yield "Lease:\tFailed to get lease"
        return
    yield "Lease:"
    yield from lines_of(_LEASE, leases[0], "  ")


def _status(subject: DescribedObject) -> Iterator[str]:
    status = subject.obj.get("status") or {}
    yield "Addresses:"
    yield from (f"  {each['type']}:\t{each['address']}" for each in status.get("addresses") or ())
    for label, name in (("Capacity", "capacity"), ("Allocatable", "allocatable")):
        if status.get(name):
            yield f"{label}:"
            yield from resource_lines(status[name], "  ")
    yield "System Info:"
    yield from lines_of(_SYSTEM_INFO, status.get("nodeInfo") or {}, "  ")


def _pods(subject: DescribedObject) -> Iterator[str]:
    pods = subject.related.get("pods")
    if pods is None:
        yield "Pods:\tnot authorized"
        return
    status = subject.obj.get("status") or {}
    available = amounts(status.get("allocatable") or status.get("capacity"))
    yield f"Non-terminated Pods:\t({len(pods)} in total)"
    yield "  Namespace\tName\t\tCPU Requests\tCPU Limits\tMemory Requests\tMemory Limits\tAge"
    yield "  ---------\t----\t\t------------\t----------\t---------------\t-------------\t---"
    all_requests: Usage = {}
    all_limits: Usage = {}
    for pod in pods:
        requests, limits = pod_requests(pod, in_effect=True), pod_limits(pod, in_effect=True)
        all_requests, all_limits = add(all_requests, requests), add(all_limits, limits)
        metadata = pod["metadata"]
        cells = [_share(declared, available, name) for name in ("cpu", "memory") for declared in (requests, limits)]
        age = since(metadata.get("creationTimestamp"), subject.now)
        yield "\t".join([f"  {metadata['namespace']}", metadata["name"], "", *cells, age])
    yield from _allocated(all_requests, all_limits, available)


def _allocated(requests: Usage, limits: Usage, available: Usage) -> Iterator[str]:
    yield "Allocated resources:"
    yield "  (Total limits may be over 100 percent, i.e., overcommitted.)"
    yield "  Resource\tRequests\tLimits"
    yield "  --------\t--------\t------"
    huge_pages = sorted(name for name in available if name.startswith("hugepages-"))
    extended = sorted(available.keys() - {*_COMPUTE, *huge_pages, "pods"})
    for name in (*_COMPUTE, *huge_pages):
        yield f"  {name}\t{_share(requests, available, name)}\t{_share(limits, available, name)}"
    for name in extended:
        yield f"  {name}\t{requests.get(name, ZERO)}\t{limits.get(name, ZERO)}"


def _share(declared: Mapping[str, Quantity], available: Mapping[str, Quantity], name: str) -> str:
    """Return an amount and its percentage of the available amount."""
    scale = -3 if name == "cpu" else 0
    amount = declared.get(name, ZERO)
    whole = available.get(name, ZERO).scaled_value(scale)
    return f"{amount} ({amount.scaled_value(scale) * 100 // whole if whole else 0}%)"


def _pods_query(node: Any) -> RelatedObjects:
    chosen = f"spec.nodeName={node['metadata']['name']},status.phase!=Succeeded,status.phase!=Failed"
    return RelatedObjects("pods.v1.", "", ListOptions(field_selector=chosen))


def _lease_query(node: Any) -> RelatedObjects:
    chosen = f"metadata.name={node['metadata']['name']}"
    return RelatedObjects("leases.v1.coordination.k8s.io", "kube-node-lease", ListOptions(field_selector=chosen))


NODE: Final = Describer(
    (
        rows(
            NAME,
            DescriptionRow("Roles", _roles),
            LABELS,
            ANNOTATIONS,
            CREATED,
            DescriptionRow("Taints", lambda node: taints(at(node, "spec.taints"))),
            DescriptionRow("Unschedulable", "spec.unschedulable", default="false"),
        ),
        _lease,
        conditions(*_CONDITION),
        _status,
        rows(
            DescriptionRow("PodCIDR", "spec.podCIDR"),
            DescriptionRow("PodCIDRs", "spec.podCIDRs", ",".join),
            DescriptionRow("ProviderID", "spec.providerID"),
        ),
        _pods,
    ),
    {"pods": _pods_query, "lease": _lease_query},
)
