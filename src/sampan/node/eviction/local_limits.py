"""Limits of local storage: `sizeLimit` of emptyDirs, and limits of `ephemeral-storage`.

Source: kubelet pkg/kubelet/eviction/eviction_manager.go `localStorageEviction` (1.36).
"""

from collections.abc import Mapping
from typing import Final

from sampan.core.numbers.quantity import Quantity, parse
from sampan.core.pods.resources import PodParts, pod_limits
from sampan.node.eviction.ranking import PodUse
from sampan.node.views.container import Container
from sampan.node.views.pod import Pod

STORAGE: Final = "ephemeral-storage"


def has_limits(pod: Pod) -> bool:
    """Return whether a Pod has a limit that its node must watch.

    The kernel enforces the limits of emptyDirs in memory.
    """
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    return bool(_size_limits(pod)) or any(STORAGE in each.resources.limits for each in containers)


def exceeded(pod: Pod, use: PodUse, *, has_image_disk: bool = False) -> str:
    """Return the message for the first limit that a Pod exceeds; empty if it exceeds none.

    `has_image_disk`: True if writable layers are not on the disk of logs and volumes.
    """
    for name, limit in _size_limits(pod).items():
        if name in use.volumes and use.volumes[name].bytes > limit.value():
            return f'Usage of EmptyDir volume "{name}" exceeds the limit "{limit}". '
    whole = _pod_limit(pod)
    if whole is not None and use.disk().bytes > whole.value():
        return f"Pod ephemeral local storage usage exceeds the total limit of containers {whole}. "
    limits = {each.name: _limit(each) for each in pod.spec.containers}
    for container in use.containers:
        of_container = limits.get(container.name)
        used = container.logs.bytes + (0 if has_image_disk else container.root.bytes)
        if of_container and used > of_container.value():
            return f'Container {container.name} exceeded its local ephemeral storage limit "{of_container}". '
    return ""


def _size_limits(pod: Pod) -> Mapping[str, Quantity]:
    found = {}
    for each in pod.spec.volumes:
        source = each.empty_dir
        if source is not None and source.medium != "Memory" and source.size_limit is not None:
            limit = parse(str(source.size_limit))
            if limit.value() > 0:
                found[each.name] = limit
    return found


def _pod_limit(pod: Pod) -> Quantity | None:
    """Return the sum of the containers' limits; None if no container has one."""

    def limits(container: Container) -> Mapping[str, Quantity]:
        limit = _limit(container)
        return {} if limit is None else {STORAGE: limit}

    parts = PodParts(
        [limits(each) for each in pod.spec.containers],
        [(limits(each), each.is_sidecar) for each in pod.spec.init_containers],
    )
    return pod_limits(parts).get(STORAGE)


def _limit(container: Container) -> Quantity | None:
    text = container.resources.limits.get(STORAGE)
    return None if text is None else parse(str(text))
