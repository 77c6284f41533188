"""PersistentVolumes and PersistentVolumeClaims."""

from collections.abc import Iterator
from typing import Any, Final

from sampan.cli.objects.describers.describer import (
    DescribedObject,
    Describer,
    DescriptionRow,
    RelatedObjects,
    at,
    labelled,
    rows,
)
from sampan.cli.objects.describers.scheduling import node_affinity
from sampan.cli.objects.describers.values import (
    ANNOTATIONS,
    FINALIZERS,
    LABELS,
    NAME,
    NAMESPACE,
    access_modes,
    conditions,
    status_or_terminating,
)
from sampan.cli.objects.describers.volumes import source_lines
from sampan.resource import Object

_OLD_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_CONDITION: Final = ("Type", "Status", "LastProbeTime", "LastTransitionTime", "Reason", "Message")
_NO_SOURCES: Final = ("capacity", "claimRef", "nodeAffinity")


def _storage_class(obj: Object) -> str:
    old = (at(obj, "metadata.annotations") or {}).get(_OLD_CLASS)
    return old or at(obj, "spec.storageClassName") or ""


def _claim(volume: Object) -> str:
    claim = at(volume, "spec.claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else ""


def _volume_source(subject: DescribedObject) -> Iterator[str]:
    spec = subject.obj.get("spec") or {}
    yield from node_affinity(spec.get("nodeAffinity"))
    yield f"Message:\t{at(subject.obj, 'status.message') or ''}"
    yield "Source:"
    yield from source_lines({name: value for name, value in spec.items() if name not in _NO_SOURCES})


def _claim_end(subject: DescribedObject) -> Iterator[str]:
    claim = subject.obj
    source = at(claim, "spec.dataSource")
    if source:
        yield "DataSource:"
        for label, name in (("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name")):
            if source.get(name):
                yield f"  {label}:\t{source[name]}"
    pods = subject.related.get("pods")
    users = [pod["metadata"]["name"] for pod in pods or () if _uses(pod, claim["metadata"]["name"])]
    yield from labelled("Used By", sorted(users) if pods is not None else "<unknown>")


def _uses(pod: Object, claim: str) -> bool:
    for volume in at(pod, "spec.volumes") or ():
        if at(volume, "persistentVolumeClaim.claimName") == claim:
            return True
        if "ephemeral" in volume and f"{pod['metadata']['name']}-{volume['name']}" == claim:
            return True
    return False


def _if_bound(path: str, show: Any = str) -> Any:
    """Return a function for a row that is empty as long as a claim has no volume."""

    def value(claim: Object) -> Any:
        found = at(claim, path)
        return show(found) if found and at(claim, "spec.volumeName") else ""

    return value


def _pods(claim: Any) -> RelatedObjects:
    return RelatedObjects("pods.v1.", claim["metadata"]["namespace"])


PERSISTENT_VOLUME: Final = Describer(
    (
        rows(
            NAME,
            LABELS,
            ANNOTATIONS,
            FINALIZERS,
            DescriptionRow("StorageClass", _storage_class),
            DescriptionRow("Status", status_or_terminating),
            DescriptionRow("Claim", _claim),
            DescriptionRow("Reclaim Policy", "spec.persistentVolumeReclaimPolicy", default=""),
            DescriptionRow("Access Modes", "spec.accessModes", access_modes, default=""),
            DescriptionRow("VolumeMode", "spec.volumeMode"),
            DescriptionRow("Capacity", "spec.capacity.storage", default="0"),
        ),
        _volume_source,
    )
)

PERSISTENT_VOLUME_CLAIM: Final = Describer(
    (
        rows(
            NAME,
            NAMESPACE,
            DescriptionRow("StorageClass", _storage_class),
            DescriptionRow("Status", status_or_terminating),
            DescriptionRow("Volume", "spec.volumeName", default=""),
            LABELS,
            ANNOTATIONS,
            FINALIZERS,
            DescriptionRow("Capacity", _if_bound("status.capacity.storage")),
            DescriptionRow("Access Modes", _if_bound("status.accessModes", access_modes)),
            DescriptionRow("VolumeMode", "spec.volumeMode"),
        ),
        _claim_end,
        conditions(*_CONDITION),
    ),
    {"pods": _pods},
)
