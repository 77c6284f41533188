"""`PodCgroups`: the cgroup of each Pod, which contains the cgroups of its containers and sandboxes.

Works with cgroup v1 (a hierarchy for each controller) and v2 (a single one). If the hierarchies are read-only, it does
nothing.
Source: kubelet pkg/kubelet/cm/{cgroup_manager_linux.go,pod_container_manager_linux.go,helpers_linux.go} (1.36).
"""

import contextlib
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sampan.core.numbers.resource_amounts import amounts
from sampan.core.pods.resources import Kind, PodParts, pod_limits, pod_requests
from sampan.node.cri.configuration.resources import CPU_PERIOD_US, SHARES_MAX, SHARES_MIN, cpu_quota_us, cpu_shares
from sampan.node.views.container import ResourceRequirements
from sampan.node.views.pod import Pod

ROOT: Final = Path("/sys/fs/cgroup")
_REQUIRED: Final = ("cpu", "memory", "pids")
_V1: Final = ("cpu", "memory")
_log = logging.getLogger("sampan.node")


def missing_controllers(root: Path = ROOT) -> str:
    """Return why containers cannot have limits on this machine; empty if they can.

    Source: kubelet pkg/kubelet/cm/container_manager_linux.go `validateSystemRequirements` (1.36).
    """
    try:
        present = set((root / "cgroup.controllers").read_text().split())
    except OSError:
        # In v1 each controller is a hierarchy, also one with several names.
        present = {name for each in _directories(root) for name in each.name.split(",")}
    absent = sorted(set(_REQUIRED) - present)
    if not absent:
        return ""
    _log.error(
        "the kernel lacks cgroup controllers that containers need: %s; enable them on its command line, for "
        "example with cgroup_enable=memory",
        ", ".join(absent),
    )
    return f"missing required cgroups: {', '.join(absent)}"


class PodCgroups:
    """Cgroups of a node's Pods."""

    def __init__(self, root: Path = ROOT) -> None:
        """`root`: where the hierarchies are mounted."""
        self._root = root
        self._is_v2 = (root / "cgroup.controllers").exists()
        self._works = True

    def make(self, path: str, pod: Pod) -> None:
        """Create the cgroup of a Pod with its limits.

        `path`: relative to the hierarchy's root, as in CRI's messages.
        """
        if not self._works:
            return
        try:
            for file, text in self._files(pod).items():
                directory = self._root / file.partition("/")[0] if not self._is_v2 else self._root
                name = file.rpartition("/")[2]
                self._make(directory, path)
                (directory / path.lstrip("/") / name).write_text(text)
        except OSError as error:
            self._works = False
            _log.warning("cannot make cgroups of pods, limits of whole pods are not enforced: %s", error)

    def update(self, path: str, pod: Pod, *, only_raise: bool) -> None:
        """Set the limits of a Pod's existing cgroup. `only_raise`: do not lower a limit.

        Raises `OSError`: for example, the kernel refuses a limit below the memory in use.
        """
        if not self._works:
            return
        for file, text in self._files(pod).items():
            hierarchy = self._root if self._is_v2 else self._root / file.partition("/")[0]
            place = hierarchy / path.lstrip("/") / file.rpartition("/")[2]
            # A Pod's limit must never be below a container's: it rises before theirs, and falls after them.
            if not (only_raise and _is_above(place.read_text(), text)):
                place.write_text(text)

    def remove(self, path: str) -> None:
        """Remove the cgroup of a Pod that has ended, with everything below it."""
        hierarchies = [self._root] if self._is_v2 else _directories(self._root)
        for hierarchy in hierarchies:
            # The kernel removes only empty cgroups, so the deepest come first.
            for directory, _, _ in os.walk(hierarchy / path.lstrip("/"), topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(directory)

    def _make(self, hierarchy: Path, path: str) -> None:
        place = hierarchy
        for name in path.strip("/").split("/"):
            if self._is_v2:
                with contextlib.suppress(OSError):
                    # In v2 a controller works in a cgroup only if every parent delegates it. Some may be delegated
                    # already.
                    (place / "cgroup.subtree_control").write_text("+cpu +memory +pids")
            place /= name
            place.mkdir(exist_ok=True)

    def _files(self, pod: Pod) -> Mapping[str, str]:
        """Return the contents of the cgroup's files. For v1, paths start with the controller: `memory/memory.…`."""
        shares = max(SHARES_MIN, cpu_shares(pod_requests(_parts(pod, "requests")).get("cpu", 0)))
        quota_us, memory = cpu_quota_us(_limit(pod, "cpu")), _limit(pod, "memory")
        if self._is_v2:
            # The formula of runc: it maps the shares of v1 (2 to 262144) to the weights of v2 (1 to 10000).
            weight = 1 + (shares - SHARES_MIN) * 9999 // (SHARES_MAX - SHARES_MIN)
            files = {"cpu.weight": str(weight)}
            if quota_us:
                files["cpu.max"] = f"{quota_us} {CPU_PERIOD_US}"
            return {**files, "memory.max": str(memory)} if memory else files
        files = {"cpu/cpu.shares": str(shares)}
        if quota_us:
            files |= {"cpu/cpu.cfs_period_us": str(CPU_PERIOD_US), "cpu/cpu.cfs_quota_us": str(quota_us)}
        return {**files, "memory/memory.limit_in_bytes": str(memory)} if memory else files


def _is_above(now: str, new: str) -> bool:
    """Return whether a limit is higher than a new one. `max` and negative numbers are no limit."""
    value = now.split()[0]
    return value == "max" or int(value) < 0 or int(value) > int(new.split()[0])


def _directories(root: Path) -> list[Path]:
    try:
        return [each for each in root.iterdir() if each.is_dir()]
    except OSError:
        return []


def _parts(pod: Pod, kind: Kind) -> PodParts[int]:
    def amounts_of(resources: ResourceRequirements) -> Mapping[str, int]:
        return amounts(resources.requests if kind == "requests" else resources.limits)

    spec = pod.spec
    return PodParts(
        [amounts_of(each.resources) for each in spec.containers],
        [(amounts_of(each.resources), each.is_sidecar) for each in spec.init_containers],
        amounts_of(spec.resources),
        amounts(spec.overhead),
    )


def _limit(pod: Pod, resource: str) -> int:
    """Return the limit of a Pod with its overhead; 0 for no limit.

    Without a limit in the Pod's own resources, one container without a limit makes the Pod unlimited.
    """
    parts = _parts(pod, "limits")
    declared = [*parts.containers, *(limits for limits, _ in parts.init_containers)]
    if not parts.pod_level.get(resource) and not all(limits.get(resource) for limits in declared):
        return 0
    return pod_limits(parts).get(resource, 0)
