"""Names of the Secrets that a Pod references.

Source: kubernetes pkg/api/v1/pod/util.go VisitPodSecretNames (1.36).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sampan.kinds import core_v1

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


def secret_names(pod: core_v1.Pod) -> Iterator[str]:
    """Return the names; a name may occur several times."""
    spec = pod["spec"]
    found: list[Any] = [each.get("name") for each in spec.get("imagePullSecrets") or ()]
    for container in _containers(spec):
        found += _of_container(container)
    for volume in spec.get("volumes") or ():
        found += _of_volume(volume)
    return (name for name in found if name)


def _containers(spec: core_v1.PodSpec) -> Iterator[core_v1.Container | core_v1.EphemeralContainer]:
    yield from spec.get("initContainers") or ()
    yield from spec.get("containers") or ()
    yield from spec.get("ephemeralContainers") or ()


def _of_container(container: core_v1.Container | core_v1.EphemeralContainer) -> Iterator[Any]:
    for source in container.get("envFrom") or ():
        yield _at(source, ("secretRef", "name"))
    for variable in container.get("env") or ():
        yield _at(variable, ("valueFrom", "secretKeyRef", "name"))


def _of_volume(volume: core_v1.Volume) -> Iterator[Any]:
    for source, path in _VOLUMES.items():
        yield _at(volume, (source, *path))
    for projection in (volume.get("projected") or {}).get("sources") or ():
        yield _at(projection, ("secret", "name"))


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        value = (value or {}).get(part)
    return value
