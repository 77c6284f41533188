"""Security settings of containers and sandboxes, as CRI's messages.

Source: kubelet pkg/kubelet/kuberuntime/{security_context.go,security_context_linux.go,helpers.go}, pkg/securitycontext
(1.36).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sampan.node.cri.messages import AnyMessage, message, value
from sampan.node.runtime import NotCreated
from sampan.node.sessions import ContainerConfig
from sampan.node.views.container import Container, SeccompProfile
from sampan.node.views.pod import Pod

MASKED_PATHS: Final = (
    "/proc/asound",
    "/proc/acpi",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/sys/firmware",
    "/sys/devices/virtual/powercap",
)
READ_ONLY_PATHS: Final = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
_PROFILES: Final = {"RuntimeDefault": "RuntimeDefault", "Localhost": "Localhost"}


def is_privileged(pod: Pod) -> bool:
    """Return whether any container of a Pod is privileged. Then its sandbox must be privileged too."""
    spec = pod.spec
    containers = (*spec.init_containers, *spec.containers, *spec.ephemeral_containers)
    return any(each.security_context.privileged for each in containers)


def container_security(
    pod: Pod, container: Container, config: ContainerConfig, *, image: AnyMessage, namespaces: AnyMessage, root: Path
) -> AnyMessage:
    """Return the LinuxContainerSecurityContext of a container. Raises `NotCreated`.

    `image`: CRI's Image. `root`: the agent's directory, with the profiles in `seccomp/`.
    """
    own = container.security_context
    security = message("LinuxContainerSecurityContext")(
        privileged=own.privileged,
        namespace_options=namespaces,
        readonly_rootfs=config.read_only_root,
        supplemental_groups=list(config.groups),
        no_new_privs=not own.allow_privilege_escalation and not own.privileged,
        seccomp=_seccomp(own.seccomp_profile or pod.spec.security_context.seccomp_profile, root),
    )
    security.capabilities.add_capabilities.extend(_without_prefix(own.capabilities.add))
    security.capabilities.drop_capabilities.extend(_without_prefix(own.capabilities.drop))
    if own.proc_mount != "Unmasked" and not own.privileged:
        security.masked_paths.extend(MASKED_PATHS)
        security.readonly_paths.extend(READ_ONLY_PATHS)
    _set_user(security, pod, container, config, image)
    return security


def _seccomp(profile: SeccompProfile | None, root: Path) -> AnyMessage:
    kind = "Unconfined" if profile is None else _PROFILES.get(profile.type, "Unconfined")
    found = message("SecurityProfile")(profile_type=value(kind))
    if profile is not None and kind == "Localhost":
        found.localhost_ref = str(root / "seccomp" / profile.localhost_profile)
    return found


def _without_prefix(names: Sequence[str]) -> list[str]:
    return [name.removeprefix("CAP_") for name in names]


def _set_user(security: AnyMessage, pod: Pod, container: Container, config: ContainerConfig, image: AnyMessage) -> None:
    """Set user and group: those of the spec, else the image's."""
    user = config.run_as_user
    if user is None and image.HasField("uid"):
        user = image.uid.value
    if user is not None:
        security.run_as_user.value = user
    elif image.username:
        security.run_as_username = image.username
    if config.run_as_group is not None:
        if user is None and not image.username:
            security.run_as_user.value = 0  # CRI allows a group only together with a user.
        security.run_as_group.value = config.run_as_group
    own, pods = container.security_context, pod.spec.security_context
    if own.run_as_non_root if own.run_as_non_root is not None else pods.run_as_non_root:
        _check_not_root(pod, container, user, image)


def _check_not_root(pod: Pod, container: Container, user: int | None, image: AnyMessage) -> None:
    metadata = pod.metadata
    shown = f'(pod: "{metadata.name}_{metadata.namespace}({metadata.uid})", container: {container.name})'
    if user is None and image.username:
        fault = f"container has runAsNonRoot and image has non-numeric user ({image.username}), cannot verify user is"
        raise NotCreated("CreateContainerConfigError", f"{fault} non-root {shown}")
    if not user:
        fault = "container has runAsNonRoot and image will run as root"
        raise NotCreated("CreateContainerConfigError", f"{fault} {shown}")
