"""`sandbox_config`: builds CRI's configuration of a Pod's sandbox.

Source: kubelet pkg/kubelet/kuberuntime/kuberuntime_sandbox.go `generatePodSandboxConfig`, util/util.go
`NamespacesForPod`, pkg/kubelet/cm/pod_container_manager_linux.go (1.36).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from sampan.node.admission.sysctls import normalized
from sampan.node.cri.configuration.security import is_privileged
from sampan.node.cri.configuration.user_namespaces import user_namespace
from sampan.node.cri.messages import AnyMessage, message, value
from sampan.node.environment.environment import host_name
from sampan.node.environment.fields import PodPlace
from sampan.node.views.pod import Pod

POD_NAME: Final = "io.kubernetes.pod.name"
POD_NAMESPACE: Final = "io.kubernetes.pod.namespace"
POD_UID: Final = "io.kubernetes.pod.uid"
"""Labels of sandboxes and containers, by which the agent finds them again after a restart."""
INSTANCE: Final = "sampan.dev/node-instance"
"""Annotation of a sandbox: id of the agent that has created it. An agent does not change the sandboxes of other agents.
"""
_QOS_CGROUPS: Final = {"Burstable": "/kubepods/burstable", "BestEffort": "/kubepods/besteffort"}


@dataclass(frozen=True, slots=True)
class SandboxPlace:
    """Settings of a node that sandboxes depend on."""

    logs: PurePosixPath
    """Directory of all Pods' logs."""
    cgroup_root: str = "/"
    """Cgroup below which `kubepods` is."""
    instance: str = ""
    """Id of the agent that creates the sandboxes."""
    first_id: int = 0
    """First id of the Pod's user namespace; 0: the Pod uses the node's user namespace."""


def sandbox_config(
    place: PodPlace, node: SandboxPlace, *, attempt: int, dns: AnyMessage = None, hostname: str = ""
) -> AnyMessage:
    """Return the PodSandboxConfig of a Pod.

    `attempt`: number of the Pod's earlier sandboxes. `dns`: CRI's DNSConfig; None for the node's. `hostname`: empty for
    the Pod's host name.
    """
    pod = place.pod
    metadata = pod.metadata
    return message("PodSandboxConfig")(
        metadata=message("PodSandboxMetadata")(
            name=metadata.name, namespace=metadata.namespace, uid=metadata.uid, attempt=attempt
        ),
        # With the node's network comes the node's UTS namespace, in which runc refuses to set a hostname.
        hostname="" if pod.spec.host_network else hostname or host_name(place),
        log_directory=str(log_directory(pod, node.logs)),
        dns_config=dns,
        port_mappings=[] if pod.spec.host_network else list(_port_mappings(pod)),
        labels={
            **metadata.labels,
            POD_NAME: metadata.name,
            POD_NAMESPACE: metadata.namespace,
            POD_UID: metadata.uid,
        },
        annotations={**metadata.annotations, INSTANCE: node.instance},
        linux=message("LinuxPodSandboxConfig")(
            cgroup_parent=cgroup_parent(pod, node.cgroup_root),
            security_context=message("LinuxSandboxSecurityContext")(
                namespace_options=namespaces(pod, node.first_id),
                privileged=is_privileged(pod),
                seccomp=message("SecurityProfile")(profile_type=value("RuntimeDefault")),
            ),
            sysctls={normalized(each.name): each.value for each in pod.spec.security_context.sysctls},
        ),
    )


def log_directory(pod: Pod, logs: PurePosixPath) -> PurePosixPath:
    """Return the directory of a Pod's logs, which has one directory for each container."""
    metadata = pod.metadata
    return logs / f"{metadata.namespace}_{metadata.name}_{metadata.uid}"


def cgroup_parent(pod: Pod, root: str = "/") -> str:
    """Return the cgroup of a Pod, for the cgroupfs driver. Guaranteed Pods are directly below `kubepods`."""
    tier = _QOS_CGROUPS.get(pod.reported.get("qosClass", ""), "/kubepods")
    return f"{root.rstrip('/')}{tier}/pod{pod.metadata.uid}"


def namespaces(pod: Pod, first_id: int = 0) -> AnyMessage:
    """Return the NamespaceOption of a Pod: which namespaces are the node's, the Pod's or each container's.

    `first_id`: as in `SandboxPlace`.
    """
    spec = pod.spec
    pid = "NODE" if spec.host_pid else "POD" if spec.share_process_namespace else "CONTAINER"
    return message("NamespaceOption")(
        network=value("NODE" if spec.host_network else "POD"),
        pid=value(pid),
        ipc=value("NODE" if spec.host_ipc else "POD"),
        userns_options=user_namespace(first_id) if first_id else None,
    )


def _port_mappings(pod: Pod) -> Iterator[AnyMessage]:
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        for port in container.ports:
            if port.host_port:
                yield message("PortMapping")(
                    protocol=value(port.protocol),
                    container_port=port.container_port,
                    host_port=port.host_port,
                    host_ip=port.host_ip,
                )
