"""Settings of the nodes that `set_up` adds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sampan.client import Config
from sampan.node.eviction.thresholds import EvictionPolicy
from sampan.node.garbage.images import ImagePolicy
from sampan.node.joining.credentials import NodeCredentials
from sampan.node.node_object.content import KubeletAddress, NodeShape
from sampan.node.node_object.heartbeats import RENEW_S
from sampan.node.shutdown.policy import ShutdownPolicy
from sampan.node.shutdown.signal import ShutdownSignal


@dataclass(frozen=True, slots=True)
class SimulatedNodes:
    """Settings of simulated nodes."""

    names: Sequence[str]
    shape: NodeShape = field(default_factory=NodeShape)
    shared_informer: bool = True
    """True if other control loops of the process watch all Pods. If not, a single node watches only its own Pods."""
    serve: KubeletAddress | None = None
    """Address of the nodes' server (port 0: any free port); None for no server."""
    range_wait_s: float | None = 0.0
    """Time to wait for a controller to assign pod CIDRs before the nodes choose their own, in seconds. None: wait
    forever. 0: register with pod CIDRs.
    """
    elected: bool = False
    """True if only the leader runs the nodes, because several processes simulate the same ones."""
    renewed: bool = True
    """If False, the nodes are registered, but their Leases are not renewed. Use this if no controller checks
    Leases.
    """
    renew_s: float = RENEW_S
    """Seconds between two renewals of a Lease."""
    credentials: NodeCredentials | None = None
    """Files of a single node that has joined: its server gets a signed certificate."""
    unsafe_sysctls: Sequence[str] = ()
    """Sysctls besides the safe ones that Pods may set: names, or patterns that end in `*`."""
    tunnel: Config | None = None
    """Client configuration, if the node opens tunnels to the API servers."""
    events: bool = False
    """True to record the events of a kubelet for a few Pods a second; else only failures of images."""


@dataclass(frozen=True, slots=True)
class ProcessNode:
    """Settings of a node whose containers are processes of this machine."""

    name: str
    root: Path
    """Directory for all its files."""
    images: Mapping[str, str] = field(default_factory=dict)
    """Image to directory, or to `host`. All other images run on the host's file system."""
    image_directory: Path | None = None
    """Directory to search for images without an entry in `images`."""
    shared_informer: bool = True
    serve: KubeletAddress = field(default_factory=lambda: KubeletAddress("127.0.0.1"))
    pod_address: str = ""
    """Address of all its Pods, because they share the machine's network; empty for that of `serve`."""
    credentials: NodeCredentials | None = None
    """Files of a node that has joined: its server gets a signed certificate."""
    eviction: EvictionPolicy = field(default_factory=EvictionPolicy)
    """Thresholds for evictions. Empty by default: a developer's machine is often short of disk space, and must not stop
    Pods because of that.
    """
    tunnel: Config | None = None
    """Client configuration, if the node opens tunnels to the API servers."""
    unsafe_sysctls: Sequence[str] = ()
    """Sysctls besides the safe ones that Pods may set: names, or patterns that end in `*`."""


@dataclass(frozen=True, slots=True)
class CriNode:
    """Settings of a node whose containers a runtime with CRI runs."""

    name: str
    root: Path
    """Directory for the files of its Pods."""
    endpoint: str
    """Socket of the runtime."""
    serve: KubeletAddress
    shared_informer: bool = True
    logs: Path = Path("/var/log/pods")
    cgroup_root: str = "/"
    cni_configurations: Path = Path("/etc/cni/net.d")
    cluster_dns: Sequence[str] = ()
    """Addresses of the cluster's DNS servers; empty to use the Service kube-system/kube-dns."""
    cluster_domain: str = "cluster.local"
    images: ImagePolicy = field(default_factory=ImagePolicy)
    eviction: EvictionPolicy = field(default_factory=EvictionPolicy)
    shutdown: ShutdownPolicy = field(default_factory=ShutdownPolicy)
    shutdown_signal: ShutdownSignal = field(default_factory=ShutdownSignal)
    """Signal by which the process requests a graceful shutdown of the node."""
    range_wait_s: float | None = 5.0
    """Time to wait for a controller to assign a pod CIDR before the node chooses one, in seconds."""
    credentials: NodeCredentials | None = None
    """Files of a node that has joined: it may not read other Nodes, and its server gets a signed certificate."""
    tunnel: Config | None = None
    """Client configuration, if the node opens tunnels to the API servers."""
    unsafe_sysctls: Sequence[str] = ()
    """Sysctls besides the safe ones that Pods may set: names, or patterns that end in `*`."""
    registries: Path | None = None
    """File of mirrors and credentials of image registries, which need not exist; None: the default path."""
    network_policy: bool = False
    """True to enforce NetworkPolicies."""
