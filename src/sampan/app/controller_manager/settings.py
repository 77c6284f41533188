"""Settings of processes of control loops: of the commands that start one, and `LoopSettings` of the process itself."""

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sampan.app.controller_manager.cidr_settings import NodeCidrSettings
from sampan.app.controller_manager.load_balancer_settings import LoadBalancerSettings
from sampan.app.controller_manager.node_health_settings import EvictionSettings, GarbageSettings, ShutdownSettings
from sampan.app.controller_manager.proxy_settings import NodeProxy
from sampan.app.controller_manager.shared_settings import (
    RUNTIMES,
    controllers_setting,
    dns_address_setting,
    dns_setting,
    local_path_setting,
    network_policy_setting,
    node_runtime_setting,
    nodes_setting,
    scheduler_setting,
    service_proxy_setting,
)
from sampan.component_base.defaults import LEGACY_TOKEN_CLEAN_UP_PERIOD_S
from sampan.component_base.load_balancer import LoadBalancerOptions
from sampan.core.settings import ValueKind, nested, setting
from sampan.core.settings.kinds import (
    DIRECTORY,
    FILE,
    HOST_AND_PORT,
    POSITIVE_DURATION,
    REGISTRIES_FILE,
    TEXT,
    integer,
    list_of,
    one_of,
)
from sampan.core.telemetry.log_settings import LogSettings
from sampan.csi.sidecar.settings import SidecarSettings
from sampan.dns.settings import DnsSettings
from sampan.node.admission.sysctls import AllowedSysctls
from sampan.node.joining.credentials import NodeCredentials

USAGE_ERROR = 2
"""Exit code of a process that would fail in the same way if it were started again."""
PROCESS: Final = "Process"
CONTROLLERS: Final = "Controllers"
NODES: Final = "Nodes"
PROCESS_NODES: Final = "Nodes of processes"
CRI_NODES: Final = "Nodes with a container runtime"
DNS: Final = "DNS"
CSI: Final = "Storage driver"


def _read_ip(text: str) -> str:
    return str(ipaddress.ip_address(text))


def _read_image(text: str) -> tuple[str, str]:
    name, equals, directory = text.partition("=")
    if not (name and equals and directory):
        raise ValueError(f"{text!r} is not NAME=DIR")
    return name, directory


def _relocate_image(pair: tuple[str, str], directory: Path) -> tuple[str, str]:
    return pair if pair[1] == "host" else (pair[0], str(directory / pair[1]))


_IMAGES: Final = list_of(
    ValueKind("NAME=DIR", _read_image, "=".join, relocate=_relocate_image), separator="", repeat=True
)


@dataclass(frozen=True, slots=True)
class SigningSettings:
    """Keys with which the control loops sign."""

    service_account_private_key_file: Path | None = setting(
        None, "Private key that signs the tokens of Secrets. Without it they get none.", kind=FILE
    )
    cluster_signing_cert_file: Path | None = setting(
        None,
        "CA certificate that signs approved CertificateSigningRequests. Without it they wait. Needs "
        "--cluster-signing-key-file.",
        kind=FILE,
    )
    cluster_signing_key_file: Path | None = setting(None, "Key of --cluster-signing-cert-file.", kind=FILE)

    def check(self) -> None:
        """Raise `ValueError` for a certificate without its key."""
        if (self.cluster_signing_cert_file is None) != (self.cluster_signing_key_file is None):
            raise ValueError("--cluster-signing-cert-file and --cluster-signing-key-file belong together")


@dataclass(frozen=True, slots=True)
class ProcessSettings:
    """Settings of every process of control loops."""

    kubeconfig: Path | None = setting(
        None, "Kubeconfig of the cluster.", kind=FILE, default="as for kubectl: $KUBECONFIG, ~/.kube/config"
    )
    probe_address: str = setting(
        "", "Address where to answer /healthz, /readyz and /metrics.", kind=HOST_AND_PORT, default="none"
    )
    log: LogSettings = nested(LogSettings, prefix="log-")


@dataclass(frozen=True, slots=True)
class CriNodeSettings:
    """Settings of a node with a container runtime. Names and meanings are the kubelet's, where it has them."""

    container_runtime_endpoint: str = setting(
        "",
        "Socket of the container runtime.",
        kind=ValueKind("SOCKET", str),
        default="the first that exists of containerd's, CRI-O's and k3s's",
    )
    cluster_dns: tuple[str, ...] = setting(
        (),
        "Addresses of the cluster's DNS servers, for the resolv.conf of Pods.",
        kind=list_of(ValueKind("IP", str)),
        default="the address of the Service kube-system/kube-dns",
    )
    cluster_domain: str = setting("cluster.local", "Domain of the cluster.", kind=ValueKind("DOMAIN", str))
    pod_logs_dir: Path = setting(Path("/var/log/pods"), "Directory of the logs of Pods.", kind=DIRECTORY)
    cni_conf_dir: Path = setting(
        Path("/etc/cni/net.d"),
        "Directory of the runtime's network configuration. Without one, the node writes its own.",
        kind=DIRECTORY,
    )
    node_ip: tuple[str, ...] = setting(
        (),
        "Addresses of the Node: one, or one of each IP family. The API server connects to the first one.",
        kind=list_of(ValueKind("IP", _read_ip)),
        default="--address, and the address of the other family on the same interface",
    )
    cgroup_root: str = setting("/", "Cgroup that has the cgroups of all Pods.", kind=ValueKind("CGROUP", str))
    allowed_unsafe_sysctls: tuple[str, ...] = setting(
        (),
        "Sysctls besides the safe ones that Pods may set: names, or patterns that end in *. For every runtime.",
        kind=list_of(ValueKind("SYSCTL", str)),
    )
    network_policy: bool | None = network_policy_setting()
    registries: Path | None = setting(
        None,
        "Mirrors, credentials and TLS settings of image registries, in the form of k3s. Reloaded when it changes.",
        name="cri-registries",
        kind=REGISTRIES_FILE,
        default="/etc/sampan/registries.yaml, if it exists",
    )
    garbage: GarbageSettings = nested(GarbageSettings)
    eviction: EvictionSettings = nested(EvictionSettings)
    shutdown: ShutdownSettings = nested(ShutdownSettings)

    def check(self) -> None:
        """Raise `ValueError` for settings that contradict each other, and for a sysctl that no Pod may set."""
        try:
            AllowedSysctls(self.allowed_unsafe_sysctls)
        except ValueError as error:
            raise ValueError(f"--allowed-unsafe-sysctls: {error}") from None
        if len(self.node_ip) > len({":" in each for each in self.node_ip}):
            raise ValueError("--node-ip: must be one address, or one of each IP family")
        self.garbage.policy()
        self.eviction.policy()
        self.shutdown.policy()


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """Settings of the nodes of a process."""

    runtime: str = setting(
        RUNTIMES[0],
        "simulated: Pods start and end as their annotations define. process: one node, whose containers are processes "
        "of this machine. cri: one node, whose containers a runtime such as containerd runs.",
        kind=one_of(*RUNTIMES),
    )
    address: str = setting(
        "",
        "Address of the node. The API server connects to the node's server at it.",
        default="127.0.0.1; with the runtime cri the address that this machine uses to connect to others",
    )
    port: int = setting(0, "Port of the nodes' own server; 0: any free one.", kind=integer(0, 65535, metavar="PORT"))
    root: Path = setting(
        Path("sampan-node"),
        "Directory of volumes, logs and records of the containers.",
        kind=DIRECTORY,
        group=PROCESS_NODES,
    )
    images: tuple[tuple[str, str], ...] = setting(
        (),
        "Directory that is the root of an image, or 'host' for this machine. Can be repeated.",
        name="image",
        kind=_IMAGES,
        group=PROCESS_NODES,
    )
    image_directory: Path | None = setting(
        None,
        "Directory of images: DIR/REPOSITORY/TAG and DIR/REPOSITORY. Other images mean this machine.",
        name="image-dir",
        kind=DIRECTORY,
        group=PROCESS_NODES,
    )
    pod_address: str = setting(
        "",
        "Address of all Pods of the node.",
        group=PROCESS_NODES,
        default="the address that this machine uses to connect to others",
    )
    cri: CriNodeSettings = nested(CriNodeSettings, group=CRI_NODES)
    range_wait_s: float = 5.0
    """Time that simulated nodes wait for an address range if no node-ipam-controller runs in the same process.

    0: they register with ranges that they choose themselves.
    """


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """Settings of one process of loops. Empty lists run nothing."""

    process: ProcessSettings = field(default_factory=ProcessSettings)
    controllers: tuple[str, ...] = ()
    """Names of controllers in the catalogue."""
    scheduler: bool = False
    nodes: tuple[str, ...] = ()
    """Names of nodes."""
    node: NodeSettings = field(default_factory=NodeSettings)
    proxy: NodeProxy | None = None
    """Service proxy of this machine; None: another program is the proxy, or none is needed."""
    lease: str = ""
    """Lease in kube-system that the active process holds; empty: this process is the only one."""
    signing: SigningSettings = field(default_factory=SigningSettings)
    node_cidrs: NodeCidrSettings = field(default_factory=NodeCidrSettings)
    dns: DnsSettings | None = None
    """Settings of the DNS server; None for none."""
    csi: SidecarSettings | None = None
    """Settings of the sidecars of a storage driver; None for none. The name of the driver is added to the Lease's."""
    local_path: bool = False
    """True to create the StorageClass for directories of nodes."""
    load_balancer: LoadBalancerOptions | None = None
    """Settings of the addresses of Services of type LoadBalancer; None for none."""
    joined: NodeCredentials | None = None
    """Certificate of a node that has joined the cluster. It is renewed."""
    tunnel: bool = False
    """True if a single node opens tunnels to the API servers."""
    legacy_token_clean_up_period_s: float = LEGACY_TOKEN_CLEAN_UP_PERIOD_S
    ends_with_stdin: bool = False
    """True if the process ends when its standard input closes, as it does when the parent process ends."""


_CONTROLLER_NAMES: Final = ValueKind("NAMES", TEXT.read)
TUNNEL_HELP: Final = (
    "Open a tunnel to each API server, through which it reaches this machine's Pods and the node's own server."
)
_LEADER_ELECT_HELP: Final = "Work only while this process holds the Lease: of several processes, one works."


@dataclass(frozen=True, slots=True)
class ControllersSettings:
    """Options of `sampan controllers`."""

    controllers: str = setting(
        "*",
        "Controllers to run: names with commas between them, * for all, -NAME to omit one.",
        kind=_CONTROLLER_NAMES,
        group=CONTROLLERS,
    )
    leader_elect: bool = setting(True, _LEADER_ELECT_HELP, group=CONTROLLERS, negative=True)
    local_path: bool = setting(
        False,
        "Create the default StorageClass local-path, whose volumes are directories of the nodes.",
        group=CONTROLLERS,
    )
    load_balancer: LoadBalancerSettings = nested(LoadBalancerSettings, group=CONTROLLERS)
    signing: SigningSettings = nested(SigningSettings, group=CONTROLLERS)
    node_cidrs: NodeCidrSettings = nested(NodeCidrSettings, group=CONTROLLERS)
    legacy_token_clean_up_period_s: float = setting(
        LEGACY_TOKEN_CLEAN_UP_PERIOD_S,
        "Time after its last use when the token of a Secret that its ServiceAccount references is marked as invalid, "
        "and again until it is deleted.",
        name="legacy-service-account-token-clean-up-period",
        kind=POSITIVE_DURATION,
        group=CONTROLLERS,
    )
    process: ProcessSettings = nested(ProcessSettings, group=PROCESS)


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """Options of `sampan scheduler`."""

    leader_elect: bool = setting(True, _LEADER_ELECT_HELP, group="Scheduler", negative=True)
    process: ProcessSettings = nested(ProcessSettings, group=PROCESS)


@dataclass(frozen=True, slots=True)
class NodesSettings:
    """Options of `sampan node`."""

    simulated: int = setting(1, "Number of simulated nodes.", kind=integer(1, 32768, metavar="NODES"), group=NODES)
    node_name: str = setting("node", "Name of the node; prefix of the names of several nodes.", group=NODES)
    node: NodeSettings = nested(NodeSettings, group=NODES)
    service_proxy: bool = setting(
        False, "Make Services reachable on this machine, as `sampan proxy` does. Needs root.", group=NODES
    )
    tunnel: bool = setting(False, f"{TUNNEL_HELP} For one node.", group=NODES)
    process: ProcessSettings = nested(ProcessSettings, group=PROCESS)


@dataclass(frozen=True, slots=True)
class DnsServerSettings:
    """Options of `sampan dns`."""

    dns: DnsSettings = nested(DnsSettings, group=DNS)
    process: ProcessSettings = nested(ProcessSettings, group=PROCESS)


@dataclass(frozen=True, slots=True)
class CsiSettings:
    """Options of `sampan csi`."""

    sidecars: SidecarSettings = nested(SidecarSettings, group=CSI)
    leader_elect: bool = setting(False, _LEADER_ELECT_HELP, group=CSI)
    process: ProcessSettings = nested(ProcessSettings, group=PROCESS)


@dataclass(frozen=True, slots=True)
class AllLoopsSettings:
    """Options of `sampan loops`, which `sampan up` starts: once for control loops, once for DNS and Service proxy."""

    controllers: str = controllers_setting(group=CONTROLLERS)
    scheduler: bool = scheduler_setting(group=CONTROLLERS)
    nodes: int = nodes_setting(group=NODES)
    node_runtime: str = node_runtime_setting(group=NODES)
    node_root: Path = setting(Path("sampan-node"), "Directory of a node.", kind=DIRECTORY, group=NODES)
    dns: bool = dns_setting(group=DNS)
    dns_address: str = dns_address_setting(group=DNS)
    service_proxy: bool = service_proxy_setting(group=NODES)
    local_path: bool | None = local_path_setting(group=CONTROLLERS)
    load_balancer: LoadBalancerSettings = nested(LoadBalancerSettings, group=CONTROLLERS)
    service_proxy_node: str = setting(
        "", "Name of the Node of this machine, for the Service proxy. Its Pods are the local endpoints.", group=NODES
    )
    cri: CriNodeSettings = nested(CriNodeSettings, group=CRI_NODES)
    leader_elect: bool = setting(
        False, "Elect a leader, because other servers use the same store and have loops too.", group=CONTROLLERS
    )
    signing: SigningSettings = nested(SigningSettings, group=CONTROLLERS)
    node_cidrs: NodeCidrSettings = nested(NodeCidrSettings, group=CONTROLLERS)
    process: ProcessSettings = nested(ProcessSettings, group=PROCESS)
