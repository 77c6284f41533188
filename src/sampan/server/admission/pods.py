"""Accessors to the parts of Pods that plug-ins need.

Source: kubernetes pkg/api/pod/util.go (1.36).
"""

from collections.abc import Iterator
from typing import Any, Final

from sampan.core.field import Path
from sampan.core.object import Object

POD: Final = ("", "pods")
POD_ONLY: Final = frozenset({POD})
MIRROR_ANNOTATION: Final = "kubernetes.io/config.mirror"
_SPEC: Final = Path("spec")
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")


def containers(spec: Object) -> Iterator[Object]:
    """Yield all containers: init containers, containers, ephemeral containers."""
    for field in _CONTAINERS:
        yield from spec.get(field) or ()


def containers_with_paths(spec: Object) -> Iterator[tuple[Object, Path]]:
    """Yield all containers with their field paths."""
    for field in _CONTAINERS:
        for index, container in enumerate(spec.get(field) or ()):
            yield container, _SPEC.child(field).index(index)


def annotations_of(obj: Object) -> dict[str, str]:
    """Return the annotations; read only."""
    return obj["metadata"].get("annotations") or {}


def is_mirror(pod: Object) -> bool:
    """Return True for a mirror Pod, which the kubelet creates to represent a static Pod."""
    return MIRROR_ANNOTATION in annotations_of(pod)


def secret_references(container: Object) -> Iterator[tuple[str, str]]:
    """Yield the Secrets in a container's environment, as pairs of the variable's name or "" and the Secret's name."""
    for variable in container.get("env") or ():
        reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
        if reference is not None:
            yield variable.get("name", ""), reference.get("name", "")
    for source in container.get("envFrom") or ():
        if source.get("secretRef") is not None:
            yield "", source["secretRef"].get("name", "")


_VOLUME_SECRETS: Final[dict[str, tuple[str, ...]]] = {
    "azureFile": ("secretName",),
    "cephfs": ("secretRef", "name"),
    "cinder": ("secretRef", "name"),
    "flexVolume": ("secretRef", "name"),
    "rbd": ("secretRef", "name"),
    "secret": ("secretName",),
    "scaleIO": ("secretRef", "name"),
    "iscsi": ("secretRef", "name"),
    "storageos": ("secretRef", "name"),
    "csi": ("nodePublishSecretRef", "name"),
}
"""Fields of volume sources that name a Secret."""


def references_secret(pod: Object) -> bool:
    """Return True if a Pod refers to a Secret."""
    spec = pod.get("spec") or {}
    if spec.get("imagePullSecrets") or any(True for each in containers(spec) for _ in secret_references(each)):
        return True
    return any(_volume_references_secret(volume) for volume in spec.get("volumes") or ())


def _volume_references_secret(volume: Object) -> bool:
    for source, path in _VOLUME_SECRETS.items():
        found: Any = volume.get(source)
        for part in path:
            found = found.get(part) if isinstance(found, dict) else None
        if found:
            return True
    return any(source.get("secret") is not None for source in (volume.get("projected") or {}).get("sources") or ())


def has_projected_token(pod: Object) -> bool:
    """Return True if a volume of the Pod contains a token of its ServiceAccount."""
    return any(
        source.get("serviceAccountToken") is not None
        for volume in (pod.get("spec") or {}).get("volumes") or ()
        for source in (volume.get("projected") or {}).get("sources") or ()
    )
