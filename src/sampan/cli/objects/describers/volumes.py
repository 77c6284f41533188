"""Volumes of Pods, and sources of PersistentVolumes: for each kind of volume, its title and its rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sampan.cli.objects.describers.describer import DescriptionRow, at, lines_of
from sampan.cli.objects.describers.values import annotations, labels
from sampan.resource import Object

_READ_ONLY: Final = DescriptionRow("ReadOnly", "readOnly", default="false")
_OPTIONAL: Final = DescriptionRow("Optional", "optional", default="false")
_FS_TYPE: Final = DescriptionRow("FSType", "fsType", default="")
_PATH: Final = DescriptionRow("Path", "path", default="")

VOLUME_SOURCES: Final[Mapping[str, tuple[str, Sequence[DescriptionRow]]]] = {
    "configMap": ("ConfigMap (a volume populated by a ConfigMap)", (DescriptionRow("Name", "name"), _OPTIONAL)),
    "secret": ("Secret (a volume populated by a Secret)", (DescriptionRow("SecretName", "secretName"), _OPTIONAL)),
    "emptyDir": (
        "EmptyDir (a temporary directory that shares a pod's lifetime)",
        (DescriptionRow("Medium", "medium", default=""), DescriptionRow("SizeLimit", "sizeLimit", default="<unset>")),
    ),
    "hostPath": (
        "HostPath (bare host directory volume)",
        (_PATH, DescriptionRow("HostPathType", "type", default="<none>")),
    ),
    "persistentVolumeClaim": (
        "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
        (DescriptionRow("ClaimName", "claimName"), _READ_ONLY),
    ),
    "downwardAPI": ("DownwardAPI (a volume populated by information about the pod)", ()),
    "projected": ("Projected (a volume that contains injected data from multiple sources)", ()),
    "ephemeral": (
        "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)",
        (
            DescriptionRow("StorageClass", "volumeClaimTemplate.spec.storageClassName", default=""),
            DescriptionRow("Volume", "volumeClaimTemplate.spec.volumeName", default=""),
            DescriptionRow("Labels", lambda source: labels(at(source, "volumeClaimTemplate.metadata.labels"))),
            DescriptionRow(
                "Annotations", lambda source: annotations(at(source, "volumeClaimTemplate.metadata.annotations"))
            ),
            DescriptionRow("Capacity", lambda source: ""),
            DescriptionRow("Access Modes", lambda source: ""),
            DescriptionRow("VolumeMode", "volumeClaimTemplate.spec.volumeMode"),
        ),
    ),
    "nfs": (
        "NFS (an NFS mount that lasts the lifetime of a pod)",
        (DescriptionRow("Server", "server"), _PATH, _READ_ONLY),
    ),
    "csi": (
        "CSI (a Container Storage Interface (CSI) volume source)",
        (
            DescriptionRow("Driver", "driver"),
            _FS_TYPE,
            DescriptionRow("VolumeHandle", "volumeHandle"),
            _READ_ONLY,
            DescriptionRow("VolumeAttributes", lambda source: labels(source.get("volumeAttributes"))),
        ),
    ),
    "image": (
        "Image (a container image or OCI artifact)",
        (DescriptionRow("Reference", "reference"), DescriptionRow("PullPolicy", "pullPolicy")),
    ),
    "local": ("LocalVolume (a persistent volume backed by local storage on a node)", (_PATH,)),
    "iscsi": (
        "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the pod)",
        (
            DescriptionRow("TargetPortal", "targetPortal"),
            DescriptionRow("IQN", "iqn"),
            DescriptionRow("Lun", "lun"),
            DescriptionRow("ISCSIInterface", "iscsiInterface"),
            _FS_TYPE,
            _READ_ONLY,
            DescriptionRow("Portals", "portals"),
            DescriptionRow("DiscoveryCHAPAuth", "chapAuthDiscovery", default="false"),
            DescriptionRow("SessionCHAPAuth", "chapAuthSession", default="false"),
            DescriptionRow("SecretRef", "secretRef.name"),
            DescriptionRow("InitiatorName", "initiatorName", default="<none>"),
        ),
    ),
    "fc": (
        "FC (a Fibre Channel disk)",
        (
            DescriptionRow("TargetWWNs", "targetWWNs", ", ".join, default=""),
            DescriptionRow("LUN", "lun", default="<none>"),
            _FS_TYPE,
            _READ_ONLY,
        ),
    ),
}
"""Title and rows by the field that names the source. Other sources are shown with all their fields."""


def volume_lines(volumes: Sequence[Object] | None, indent: str = "") -> Iterator[str]:
    """Yield the volumes of a Pod, or of a template (with an indent)."""
    if not volumes:
        yield f"{indent}Volumes:\t<none>"
        return
    yield f"{indent}Volumes:"
    for volume in volumes:
        yield f"  {' ' if indent else ''}{volume['name']}:"
        yield from source_lines(volume)


def source_lines(volume: Object) -> Iterator[str]:
    """Yield the source of a volume: its type and its fields."""
    known = next((name for name in VOLUME_SOURCES if volume.get(name) is not None), "")
    if known:
        title, rows = VOLUME_SOURCES[known]
        yield f"    Type:\t{title}"
        yield from lines_of(rows, volume[known], "    ")
        yield from _SOURCE_ITEMS.get(known, _no_items)(volume[known])
        return
    other = next((name for name, value in volume.items() if isinstance(value, dict)), "")
    if not other:
        yield "    <unknown>"
        return
    yield f"    Type:\t{other[:1].upper()}{other[1:]}"
    yield from lines_of(
        [DescriptionRow(f"{name[:1].upper()}{name[1:]}", name) for name in volume[other]], volume[other], "    "
    )


def _no_items(source: Object) -> Iterator[str]:
    yield from ()


def _projected(source: Object) -> Iterator[str]:
    for item in source.get("sources") or ():
        for name, rows in _PROJECTED.items():
            if item.get(name) is not None:
                yield from lines_of(rows, item[name], "    ")


def _downward(source: Object) -> Iterator[str]:
    yield "    Items:"
    for item in source.get("items") or ():
        field: Any = at(item, "fieldRef.fieldPath") or at(item, "resourceFieldRef.resource")
        yield f"      {field} -> {item.get('path', '')}"


_PROJECTED: Final[Mapping[str, Sequence[DescriptionRow]]] = {
    "secret": (DescriptionRow("SecretName", "name"), _OPTIONAL),
    "downwardAPI": (DescriptionRow("DownwardAPI", lambda source: "true"),),
    "configMap": (DescriptionRow("ConfigMapName", "name"), _OPTIONAL),
    "serviceAccountToken": (DescriptionRow("TokenExpirationSeconds", "expirationSeconds"),),
    "clusterTrustBundle": (
        DescriptionRow("ClusterTrustBundle", lambda source: source.get("name") or source.get("signerName")),
    ),
    "podCertificate": (DescriptionRow("PodCertificate", "signerName"),),
}
_SOURCE_ITEMS: Final = {"projected": _projected, "downwardAPI": _downward}
