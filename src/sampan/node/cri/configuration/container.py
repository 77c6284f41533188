"""`container_config`: builds CRI's configuration of a container.

Source: kubelet pkg/kubelet/kuberuntime/kuberuntime_container.go `generateContainerConfig`, labels.go (1.36).
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.node.cri.configuration.sandbox import POD_NAME, POD_NAMESPACE, POD_UID, namespaces
from sampan.node.cri.configuration.security import container_security
from sampan.node.cri.configuration.user_namespaces import mapping
from sampan.node.cri.messages import AnyMessage, message, value
from sampan.node.cri.records import RESTART_COUNT
from sampan.node.sessions import ContainerConfig, Mount
from sampan.node.views.container import Container
from sampan.node.views.pod import Pod

CONTAINER_NAME: Final = "io.kubernetes.container.name"
"""Label of a container with its name in the Pod."""
MESSAGE_PATH: Final = "io.kubernetes.container.terminationMessagePath"
MESSAGE_POLICY: Final = "io.kubernetes.container.terminationMessagePolicy"
GRACE_PERIOD: Final = "io.kubernetes.pod.terminationGracePeriod"
"""Annotations of a container. After a restart of the agent, they provide the settings for ending the container."""
_HOSTS: Final = "/etc/hosts"
_PROPAGATION: Final = {
    "HostToContainer": "PROPAGATION_HOST_TO_CONTAINER",
    "Bidirectional": "PROPAGATION_BIDIRECTIONAL",
}


@dataclass(frozen=True, slots=True)
class ContainerInputs:
    """Inputs for the configuration of one run of a container."""

    pod: Pod
    container: Container
    config: ContainerConfig
    restart_count: int
    image: AnyMessage
    """CRI's Image."""
    resources: AnyMessage
    """CRI's LinuxContainerResources."""
    root: Path
    """Directory of the agent."""
    target_id: str = ""
    """Container whose processes an ephemeral container sees."""
    first_id: int = 0
    """First id of the Pod's user namespace; 0: the Pod uses the node's user namespace."""

    @property
    def directory(self) -> Path:
        """Directory for the files of all runs of the container."""
        return pod_directory(self.root, self.pod.metadata.uid) / "containers" / self.container.name

    @property
    def message_file(self) -> Path:
        """File that is mounted at the container's terminationMessagePath."""
        return message_file(self.root, self.pod.metadata.uid, self.container.name, self.restart_count)


def pod_directory(root: Path, uid: str) -> Path:
    """Return the directory of a Pod's files."""
    return root / "pods" / uid


def hosts_file(root: Path, uid: str) -> Path:
    """Return the file that is mounted at a Pod's /etc/hosts."""
    return pod_directory(root, uid) / "etc-hosts"


def message_file(root: Path, uid: str, container: str, restart_count: int) -> Path:
    """Return the file with the termination message of one run."""
    return pod_directory(root, uid) / "containers" / container / str(restart_count)


def log_path(container: str, restart_count: int) -> str:
    """Return the path of the log of one run, in the directory of its Pod's logs."""
    return f"{container}/{restart_count}.log"


def container_config(start: ContainerInputs) -> AnyMessage:
    """Return the ContainerConfig of a run. Raises `NotCreated`."""
    pod, container, config = start.pod, start.container, start.config
    options = namespaces(pod, start.first_id)
    if start.target_id:
        options.pid, options.target_id = value("TARGET"), start.target_id
    security = container_security(pod, container, config, image=start.image, namespaces=options, root=start.root)
    found = message("ContainerConfig")(
        metadata=message("ContainerMetadata")(name=container.name, attempt=start.restart_count),
        image=message("ImageSpec")(image=start.image.id),
        command=list(config.command),
        args=list(config.args),
        working_dir=config.working_dir,
        envs=[message("KeyValue")(key=name, value=_utf8(text)) for name, text in config.env.items()],
        mounts=list(_mounts(start)),
        devices=list(_devices(start)),
        labels=_labels(start),
        annotations=_annotations(start),
        log_path=log_path(container.name, start.restart_count),
        stdin=config.stdin,
        stdin_once=config.stdin_once,
        tty=config.tty,
        linux=message("LinuxContainerConfig")(resources=start.resources, security_context=security),
    )
    if config.stop_signal and "stop_signal" in found.DESCRIPTOR.fields_by_name:
        found.stop_signal = value(config.stop_signal)
    return found


def _labels(start: ContainerInputs) -> dict[str, str]:
    metadata = start.pod.metadata
    return {
        CONTAINER_NAME: start.container.name,
        POD_NAME: metadata.name,
        POD_NAMESPACE: metadata.namespace,
        POD_UID: metadata.uid,
    }


def _annotations(start: ContainerInputs) -> dict[str, str]:
    grace_s = start.pod.spec.termination_grace_period_seconds
    found = {
        RESTART_COUNT: str(start.restart_count),
        MESSAGE_PATH: start.config.termination_message_path,
        MESSAGE_POLICY: start.config.termination_message_policy,
    }
    return found if grace_s is None else {**found, GRACE_PERIOD: str(grace_s)}


def _mounts(start: ContainerInputs) -> Iterator[AnyMessage]:
    propagation = {each.mount_path: each.mount_propagation for each in start.container.volume_mounts}
    # Files keep their owners as the containers see them.
    ids = [mapping(start.first_id)] if start.first_id else []
    paths = set()
    for mount in start.config.mounts:
        paths.add(mount.container_path.rstrip("/"))
        if mount.image:
            yield message("Mount")(
                container_path=mount.container_path,
                readonly=True,
                image=message("ImageSpec")(image=mount.image),
                image_sub_path=mount.image_sub_path,
            )
            continue
        yield message("Mount")(
            container_path=mount.container_path,
            # The runtime makes a directory of a host path that is missing, and mounts what a link leads to.
            host_path=os.path.realpath(mount.host_path),
            readonly=mount.read_only,
            propagation=value(_PROPAGATION.get(propagation.get(mount.container_path, ""), "PROPAGATION_PRIVATE")),
            uidMappings=ids,
            gidMappings=ids,
        )
    own = [Mount("", str(hosts_file(start.root, start.pod.metadata.uid)), _HOSTS)]
    if start.config.termination_message_path:
        own.append(Mount("", str(start.message_file), start.config.termination_message_path))
    for mount in own:
        if mount.container_path not in paths:
            yield message("Mount")(
                container_path=mount.container_path, host_path=mount.host_path, uidMappings=ids, gidMappings=ids
            )


def _devices(start: ContainerInputs) -> Iterator[AnyMessage]:
    for device in start.config.devices:
        permissions = "r" if device.read_only else "mrw"
        # The runtime reads the device numbers from the path, which may be a link.
        path = os.path.realpath(device.host_path)
        yield message("Device")(container_path=device.container_path, host_path=path, permissions=permissions)


def _utf8(text: str) -> str:
    """Replace the bytes of a value that are not UTF-8: CRI's messages have only text."""
    return text.encode(errors="surrogateescape").decode(errors="replace")
