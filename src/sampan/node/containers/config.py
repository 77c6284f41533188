"""`ContainerConfigs`: resolves everything in a container's spec that refers to other objects.

Source: kubernetes pkg/kubelet/kuberuntime/kuberuntime_container.go `generateContainerConfig`,
security_context.go `verifyRunAsNonRoot` (1.36).
"""

import asyncio
import os
from collections.abc import Mapping, Sequence

from sampan.core.numbers.quantity import parse
from sampan.core.pods.expansion import expand, from_mappings
from sampan.node.environment.environment import environment_of, host_name
from sampan.node.environment.fields import PodPlace
from sampan.node.references import References
from sampan.node.sessions import ContainerConfig, Mount
from sampan.node.views.container import Container
from sampan.node.volumes.mounts import MountedVolume, devices_of, mounts_of
from sampan.node.volumes.sub_path_mounts import SubPathMounts


class ContainerConfigs:
    """Makes the configurations of one Pod's containers, from the volumes and Services at one point in time."""

    def __init__(
        self,
        place: PodPlace,
        *,
        volumes: Mapping[str, MountedVolume],
        services: Mapping[str, str],
        references: References,
        sub_paths: SubPathMounts,
        images_have_users: bool = False,
    ) -> None:
        """`sub_paths`: parts of the Pod's volumes.

        `images_have_users`: the runtime checks the user of a container that sets none.
        """
        self._default_is_root = os.geteuid() == 0 and not images_have_users
        self._place = place
        self._volumes = volumes
        self._services = services
        self._references = references
        self._sub_paths = sub_paths

    async def config_of(self, container: Container) -> ContainerConfig:
        """Return the configuration. Raises `Missing`, `Unreadable`, `MountError`, `ValueError`, `OSError`."""
        place = self._place
        user, group = _user_and_group(place, container, default_is_root=self._default_is_root)
        env = await environment_of(place, container, self._services, self._references)
        mounts: Sequence[Mount] = await self._mounts(container, env)
        value_of = from_mappings(env)
        limits = container.resources.limits
        memory = limits.get("memory")
        return ContainerConfig(
            command=[expand(word, value_of) for word in container.command],
            args=[expand(word, value_of) for word in container.args],
            env=env,
            mounts=mounts,
            devices=devices_of(container, self._volumes),
            working_dir=container.working_dir,
            stdin=container.stdin,
            stdin_once=container.stdin_once,
            tty=container.tty,
            memory_limit_bytes=None if memory is None else parse(str(memory)).value(),
            run_as_user=user,
            run_as_group=group,
            groups=_groups(place),
            host_name=host_name(place),
            termination_message_path=container.termination_message_path,
            termination_message_policy=container.termination_message_policy,
            stop_signal=container.lifecycle.stop_signal,
            read_only_root=container.security_context.read_only_root_filesystem,
        )

    async def _mounts(self, container: Container, env: Mapping[str, str]) -> Sequence[Mount]:
        """Return the mounts. Parts of volumes need the disk, so they are prepared in a thread."""
        if any(mount.sub_path or mount.sub_path_expr for mount in container.volume_mounts):
            return await asyncio.to_thread(mounts_of, container, self._volumes, env, self._sub_paths)
        return mounts_of(container, self._volumes, env, self._sub_paths)


def _groups(place: PodPlace) -> Sequence[int]:
    """Return the supplementary groups of the Pod and of its volumes."""
    context = place.pod.spec.security_context
    volumes = () if context.fs_group is None else (context.fs_group,)
    return (*context.supplemental_groups, *volumes)


def _user_and_group(place: PodPlace, container: Container, *, default_is_root: bool) -> tuple[int | None, int | None]:
    """Return user and group. The container's settings override the Pod's. Raises `ValueError`."""
    own, pods = container.security_context, place.pod.spec.security_context
    user = own.run_as_user if own.run_as_user is not None else pods.run_as_user
    group = own.run_as_group if own.run_as_group is not None else pods.run_as_group
    not_root = own.run_as_non_root if own.run_as_non_root is not None else pods.run_as_non_root
    if not_root:
        metadata = place.pod.metadata
        shown = f'(pod: "{metadata.name}_{metadata.namespace}({metadata.uid})", container: {container.name})'
        if user == 0:
            raise ValueError(f"container's runAsUser breaks non-root policy {shown}")
        if user is None and default_is_root:
            raise ValueError(f"container has runAsNonRoot and image will run as root {shown}")
    return user, group
