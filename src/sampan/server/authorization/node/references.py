"""References of Pods and PersistentVolumes to other objects.

Source: kubernetes pkg/api/v1/{pod,persistentvolume}/util.go, plugin/pkg/auth/authorizer/node/graph.go (1.36).
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from sampan.core.object import Object

_MIRROR: Final = "kubernetes.io/config.mirror"
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_WITH_SECRET_REF: Final = ("cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos")
_OF_CLAIM_NAMESPACE: Final = ("cephfs", "flexVolume", "rbd", "scaleIO", "iscsi")
"""Volume types whose secret is in the claim's namespace unless they name a namespace."""
_DIRECTORIES: Final = "local-path.sampan.dev"
_NODE: Final = "sampan.dev/node"
"""Driver and attribute of volumes that are directories of nodes (`component_base/local_path.py`)."""
_CSI_SECRETS: Final = ("nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef")


class Referent(NamedTuple):
    """Object to which another object refers."""

    resource: str
    namespace: str
    name: str


def pod_references(pod: Object) -> set[Referent]:
    """Return the objects that a node needs to run the Pod. A mirror Pod has none, because its node created it."""
    metadata, spec = pod["metadata"], pod.get("spec") or {}
    if _MIRROR in (metadata.get("annotations") or {}):
        return set()
    found = [("serviceaccounts", spec.get("serviceAccountName"))]
    found += [("secrets", each.get("name")) for each in spec.get("imagePullSecrets") or ()]
    for field in _CONTAINERS:
        for container in spec.get(field) or ():
            found += _of_container(container)
    for volume in spec.get("volumes") or ():
        found += _of_volume(volume, metadata["name"])
    found += [("resourceclaims", name) for name in _resource_claims(pod, spec)]
    return {Referent(resource, metadata["namespace"], name) for resource, name in found if name}


def volume_secrets(volume: Object) -> set[Referent]:
    """Return the Secrets of a bound PersistentVolume that a node may need."""
    spec = volume.get("spec") or {}
    claim_namespace = (spec.get("claimRef") or {}).get("namespace") or ""
    found: list[tuple[str, str]] = []
    azure = spec.get("azureFile")
    if azure:
        found.append((azure.get("secretNamespace") or claim_namespace, azure.get("secretName") or ""))
    for kind in _WITH_SECRET_REF:
        ref = (spec.get(kind) or {}).get("secretRef")
        if ref:
            otherwise = claim_namespace if kind in _OF_CLAIM_NAMESPACE else ""
            found.append((ref.get("namespace") or otherwise, ref.get("name") or ""))
    csi = spec.get("csi") or {}
    refs = [csi.get(field) or {} for field in _CSI_SECRETS]
    found += [(ref.get("namespace") or "", ref.get("name") or "") for ref in refs]
    return {Referent("secrets", namespace, name) for namespace, name in found if name}


def node_of_directory(volume: Object) -> str:
    """Return the node whose directory is a PersistentVolume; empty for any other volume.

    That node deletes the directory after its last Pod, so it must be able to read the volume without one.
    """
    source = (volume.get("spec") or {}).get("csi") or {}
    node = (source.get("volumeAttributes") or {}).get(_NODE) if source.get("driver") == _DIRECTORIES else None
    return node if isinstance(node, str) else ""


def _of_container(container: Object) -> Iterator[tuple[str, Any]]:
    for source in container.get("envFrom") or ():
        yield "secrets", (source.get("secretRef") or {}).get("name")
        yield "configmaps", (source.get("configMapRef") or {}).get("name")
    for variable in container.get("env") or ():
        source = variable.get("valueFrom") or {}
        yield "secrets", (source.get("secretKeyRef") or {}).get("name")
        yield "configmaps", (source.get("configMapKeyRef") or {}).get("name")


def _of_volume(volume: Object, pod: str) -> Iterator[tuple[str, Any]]:
    yield "secrets", (volume.get("secret") or {}).get("secretName")
    yield "secrets", (volume.get("azureFile") or {}).get("secretName")
    yield "configmaps", (volume.get("configMap") or {}).get("name")
    for source in (volume.get("projected") or {}).get("sources") or ():
        yield "secrets", (source.get("secret") or {}).get("name")
        yield "configmaps", (source.get("configMap") or {}).get("name")
    for kind in _WITH_SECRET_REF:
        yield "secrets", ((volume.get(kind) or {}).get("secretRef") or {}).get("name")
    yield "secrets", ((volume.get("csi") or {}).get("nodePublishSecretRef") or {}).get("name")
    if volume.get("ephemeral"):
        yield "persistentvolumeclaims", f"{pod}-{volume['name']}"
    else:
        yield "persistentvolumeclaims", (volume.get("persistentVolumeClaim") or {}).get("claimName")


def _resource_claims(pod: Object, spec: Object) -> Iterator[Any]:
    status = pod.get("status") or {}
    made = {each["name"]: each.get("resourceClaimName") for each in status.get("resourceClaimStatuses") or ()}
    for each in spec.get("resourceClaims") or ():
        yield each.get("resourceClaimName") or made.get(each["name"])
    yield (status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName")
