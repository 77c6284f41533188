"""Description of a Pod: containers, volumes, conditions and events."""

from collections.abc import Iterator
from typing import Final

from sampan.cli.objects.describers.containers import container_lines, resources
from sampan.cli.objects.describers.describer import DescribedObject, Describer, DescriptionRow, at, rows
from sampan.cli.objects.describers.scheduling import placement
from sampan.cli.objects.describers.values import (
    ANNOTATIONS,
    CONTROLLER,
    LABELS,
    NAME,
    NAMESPACE,
    since,
    time,
)
from sampan.cli.objects.describers.volumes import volume_lines
from sampan.resource import Object

_KNOWN_FIELDS: Final = ("metadata.name", "metadata.namespace", "metadata.uid")
_KINDS_OF_CONTAINERS: Final = (
    ("Init Containers", "initContainers", "initContainerStatuses"),
    ("Containers", "containers", "containerStatuses"),
    ("Ephemeral Containers", "ephemeralContainers", "ephemeralContainerStatuses"),
)


def _node(pod: Object) -> str:
    name = at(pod, "spec.nodeName")
    return f"{name}/{at(pod, 'status.hostIP') or ''}" if name else "<none>"


def _state(subject: DescribedObject) -> Iterator[str]:
    pod = subject.obj
    phase = at(pod, "status.phase") or ""
    deleted_at = at(pod, "metadata.deletionTimestamp")
    if deleted_at and phase not in ("Failed", "Succeeded"):
        yield f"Status:\tTerminating (lasts {since(deleted_at, subject.now)})"
        yield f"Termination Grace Period:\t{at(pod, 'metadata.deletionGracePeriodSeconds') or 0}s"
    else:
        yield f"Status:\t{phase}"


def _addresses(subject: DescribedObject) -> Iterator[str]:
    addresses = at(subject.obj, "status.podIPs")
    yield f"IP:\t{at(subject.obj, 'status.podIP') or ''}"
    yield "IPs:" if addresses else "IPs:\t<none>"
    yield from (f"  IP:\t{each.get('ip', '')}" for each in addresses or ())


def _resources(subject: DescribedObject) -> Iterator[str]:
    declared = at(subject.obj, "spec.resources")
    if declared:
        yield "Resources:"
        yield from resources(declared, "  ")


def _containers(subject: DescribedObject) -> Iterator[str]:
    pod = subject.obj

    def field_value(path: str) -> str:
        return at(pod, path) or "" if path in _KNOWN_FIELDS else ""

    for title, name, statuses in _KINDS_OF_CONTAINERS:
        containers = at(pod, f"spec.{name}")
        if containers or name == "containers":
            found = at(pod, f"status.{statuses}")
            yield from container_lines(title, containers, statuses=found, field_value=field_value)


def _conditions(subject: DescribedObject) -> Iterator[str]:
    conditions = at(subject.obj, "status.conditions") or ()
    by_type = {condition["type"]: condition["status"] for condition in conditions}
    gates = at(subject.obj, "spec.readinessGates") or ()
    if gates:
        yield "Readiness Gates:"
        yield "  Type\tStatus"
        for gate in gates:
            yield f"  {gate['conditionType']} \t{by_type.get(gate['conditionType'], '<none>')}"
    if conditions:
        yield "Conditions:"
        yield "  Type\tStatus"
        yield from (f"  {kind} \t{status}" for kind, status in by_type.items())


def _end(subject: DescribedObject) -> Iterator[str]:
    spec = subject.obj.get("spec") or {}
    yield from volume_lines(spec.get("volumes"))
    yield f"QoS Class:\t{at(subject.obj, 'status.qosClass') or ''}"
    yield from placement(spec)


POD: Final = Describer(
    (
        rows(
            NAME,
            NAMESPACE,
            DescriptionRow("Priority", "spec.priority"),
            DescriptionRow("Priority Class Name", "spec.priorityClassName"),
            DescriptionRow("Runtime Class Name", "spec.runtimeClassName"),
            DescriptionRow("Service Account", "spec.serviceAccountName"),
            DescriptionRow("Node", _node),
            DescriptionRow("Start Time", "status.startTime", time),
            LABELS,
            ANNOTATIONS,
        ),
        _state,
        rows(
            DescriptionRow("Reason", "status.reason"),
            DescriptionRow("Message", "status.message"),
            DescriptionRow("SeccompProfile", "spec.securityContext.seccompProfile.type"),
            DescriptionRow("LocalhostProfile", "spec.securityContext.seccompProfile.localhostProfile"),
        ),
        _addresses,
        rows(CONTROLLER, DescriptionRow("NominatedNodeName", "status.nominatedNodeName")),
        _resources,
        _containers,
        _conditions,
        _end,
    )
)
