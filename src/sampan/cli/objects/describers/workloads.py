"""Deployments, ReplicaSets, StatefulSets and DaemonSets: the kinds with a Pod template that run without end."""

from collections.abc import Iterator
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
from sampan.cli.objects.describers.pod_template import pod_template
from sampan.cli.objects.describers.values import (
    ANNOTATIONS,
    CONTROLLER,
    CREATED,
    LABELS,
    NAME,
    NAMESPACE,
    SELECTOR,
    annotations,
    comma_labels,
    conditions,
    labels,
    owned,
    pods_of,
)
from sampan.client import ListOptions
from sampan.core.json.values import same
from sampan.core.label_selectors import selector_text
from sampan.resource import Object

_PHASES: Final = (("Running", "Running"), ("Pending", "Waiting"), ("Succeeded", "Succeeded"), ("Failed", "Failed"))
_TEMPLATE_HASH: Final = "pod-template-hash"


def _count(obj: Object, path: str) -> int:
    return at(obj, path) or 0


def _pods_status(subject: DescribedObject) -> Iterator[str]:
    pods = owned(subject, "pods")
    if pods is None:
        yield "Pods Status:\terror in fetching pods"
        return
    phases = [at(pod, "status.phase") for pod in pods]
    yield "Pods Status:\t" + " / ".join(f"{phases.count(phase)} {label}" for phase, label in _PHASES)


def _deployment_replicas(obj: Object) -> str:
    status = obj.get("status") or {}
    counts = (
        ("updated", "updatedReplicas"),
        ("total", "replicas"),
        ("available", "availableReplicas"),
        ("unavailable", "unavailableReplicas"),
    )
    texts = [f"{_count(obj, 'spec.replicas')} desired", *(f"{status.get(name) or 0} {label}" for label, name in counts)]
    return " | ".join(texts)


def _rolling_update(strategy: Object) -> str:
    return f"{strategy.get('maxUnavailable')} max unavailable, {strategy.get('maxSurge')} max surge"


def _replica_sets_query(obj: Object) -> RelatedObjects:
    chosen = selector_text(at(obj, "spec.selector"))
    return RelatedObjects("replicasets.v1.apps", obj["metadata"]["namespace"], ListOptions(label_selector=chosen))


def _replica_sets(subject: DescribedObject) -> Iterator[str]:
    """Yield the old ReplicaSets and the new one: the oldest with the Deployment's Pod template."""
    found = sorted(owned(subject, "replica sets") or (), key=_by_age)
    if not found:
        return
    template = at(subject.obj, "spec.template")
    new = [each for each in found if same(_template_of_deployment(each), template)][:1]
    for label, chosen in (("OldReplicaSets", [each for each in found if each not in new]), ("NewReplicaSet", new)):
        texts = [
            f"{each['metadata']['name']} ({_count(each, 'status.replicas')}/{_count(each, 'spec.replicas')} "
            "replicas created)"
            for each in chosen
        ]
        yield f"{label}:\t{', '.join(texts) or '<none>'}"


def _by_age(replica_set: Object) -> tuple[str, str]:
    metadata = replica_set["metadata"]
    return metadata.get("creationTimestamp", ""), metadata["name"]


def _template_of_deployment(replica_set: Object) -> Object:
    """Return the Pod template without the label that the Deployment controller adds."""
    template: Object = at(replica_set, "spec.template")
    metadata = template.get("metadata") or {}
    labels = {name: value for name, value in (metadata.get("labels") or {}).items() if name != _TEMPLATE_HASH}
    return {**template, "metadata": {**metadata, "labels": labels}}


def _update_strategy(subject: DescribedObject) -> Iterator[str]:
    yield from lines_of((DescriptionRow("Update Strategy", "spec.updateStrategy.type"),), subject.obj)
    rolling = (
        DescriptionRow("Partition", "spec.updateStrategy.rollingUpdate.partition"),
        DescriptionRow("MaxUnavailable", "spec.updateStrategy.rollingUpdate.maxUnavailable"),
    )
    yield from lines_of(rolling, subject.obj, "  ")
    retention = at(subject.obj, "spec.persistentVolumeClaimRetentionPolicy")
    if retention:
        yield "Persistent Volume Claim Retention Policy:"
        yield from lines_of(
            (DescriptionRow("WhenDeleted", "whenDeleted"), DescriptionRow("WhenScaled", "whenScaled")), retention, "  "
        )


_CLAIM: Final = (
    DescriptionRow("Name", "metadata.name"),
    DescriptionRow("StorageClass", "spec.storageClassName", default=""),
    DescriptionRow("Labels", lambda claim: labels(at(claim, "metadata.labels"))),
    DescriptionRow("Annotations", lambda claim: annotations(at(claim, "metadata.annotations"))),
    DescriptionRow("Capacity", "spec.resources.requests.storage", default="<default>"),
    DescriptionRow("Access Modes", "spec.accessModes", lambda modes: f"[{' '.join(modes)}]", default="[]"),
)


def _volume_claims(subject: DescribedObject) -> Iterator[str]:
    claims: Any = at(subject.obj, "spec.volumeClaimTemplates")
    yield "Volume Claims:" if claims else "Volume Claims:\t<none>"
    for claim in claims or ():
        yield from lines_of(_CLAIM, claim, "  ")


def _node_counts(subject: DescribedObject) -> Iterator[str]:
    for label, name in (
        ("Desired Number of Nodes Scheduled", "desiredNumberScheduled"),
        ("Current Number of Nodes Scheduled", "currentNumberScheduled"),
        ("Number of Nodes Scheduled with Up-to-date Pods", "updatedNumberScheduled"),
        ("Number of Nodes Scheduled with Available Pods", "numberAvailable"),
        ("Number of Nodes Misscheduled", "numberMisscheduled"),
    ):
        yield f"{label}: {_count(subject.obj, f'status.{name}')}"


DEPLOYMENT: Final = Describer(
    (
        rows(
            NAME,
            NAMESPACE,
            CREATED,
            LABELS,
            ANNOTATIONS,
            SELECTOR,
            DescriptionRow("Replicas", _deployment_replicas),
            DescriptionRow("StrategyType", "spec.strategy.type", default=""),
            DescriptionRow("MinReadySeconds", "spec.minReadySeconds", default="0"),
            DescriptionRow("RollingUpdateStrategy", "spec.strategy.rollingUpdate", _rolling_update),
        ),
        pod_template,
        conditions("Type", "Status", "Reason"),
        _replica_sets,
    ),
    {"replica sets": _replica_sets_query},
)

REPLICA_SET: Final = Describer(
    (
        rows(
            NAME,
            NAMESPACE,
            SELECTOR,
            LABELS,
            ANNOTATIONS,
            CONTROLLER,
            DescriptionRow(
                "Replicas",
                lambda obj: f"{_count(obj, 'status.replicas')} current / {_count(obj, 'spec.replicas')} desired",
            ),
        ),
        _pods_status,
        pod_template,
        conditions("Type", "Status", "Reason"),
    ),
    {"pods": pods_of("spec.selector")},
)

STATEFUL_SET: Final = Describer(
    (
        rows(
            NAME,
            NAMESPACE,
            CREATED,
            SELECTOR,
            LABELS,
            ANNOTATIONS,
            DescriptionRow("Service Name", "spec.serviceName"),
            DescriptionRow("Pod Management Policy", "spec.podManagementPolicy"),
            DescriptionRow(
                "Replicas",
                lambda obj: f"{_count(obj, 'spec.replicas')} desired | {_count(obj, 'status.replicas')} total",
            ),
        ),
        _update_strategy,
        _pods_status,
        pod_template,
        _volume_claims,
    ),
    {"pods": pods_of("spec.selector")},
)

DAEMON_SET: Final = Describer(
    (
        rows(
            NAME,
            NAMESPACE,
            SELECTOR,
            DescriptionRow("Node-Selector", lambda obj: comma_labels(at(obj, "spec.template.spec.nodeSelector"))),
            LABELS,
            ANNOTATIONS,
        ),
        _node_counts,
        _pods_status,
        pod_template,
    ),
    {"pods": pods_of("spec.selector")},
)
