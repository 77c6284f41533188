"""Names of the Secrets that a Pod references.

Source: kubernetes pkg/api/v1/pod/util.go VisitPodSecretNames (1.36).
"""

from collections.abc import Iterator
from typing import Any, Final

from sampan.resource import Object

_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_VOLUMES: Final[dict[str, tuple[str, ...]]] = {
    "azureFile": ("secretName",),
    "cephfs": ("secretRef", "name"),
    "cinder": ("secretRef", "name"),
    "csi": ("nodePublishSecretRef", "name"),
    "flexVolume": ("secretRef", "name"),
    "iscsi": ("secretRef", "name"),
    "rbd": ("secretRef", "name"),
    "scaleIO": ("secretRef", "name"),
    "secret": ("secretName",),
    "storageos": ("secretRef", "name"),
}
"""Path of the Secret's name in each kind of volume."""


def secret_names(pod: Object) -> Iterator[str]:
    """Return the names; a name may occur several times."""
    spec = pod.get("spec") or {}
    found: list[Any] = [each.get("name") for each in spec.get("imagePullSecrets") or ()]
    for field in _CONTAINERS:
        for container in spec.get(field) or ():
            found += _of_container(container)
    for volume in spec.get("volumes") or ():
        found += _of_volume(volume)
    return (name for name in found if name)


def _of_container(container: Object) -> Iterator[Any]:
    for source in container.get("envFrom") or ():
        yield _at(source, ("secretRef", "name"))
    for variable in container.get("env") or ():
        yield _at(variable, ("valueFrom", "secretKeyRef", "name"))


def _of_volume(volume: Object) -> Iterator[Any]:
    for source, path in _VOLUMES.items():
        yield _at(volume, (source, *path))
    for source in (volume.get("projected") or {}).get("sources") or ():
        yield _at(source, ("secret", "name"))


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        value = (value or {}).get(part)
    return value
