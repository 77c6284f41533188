"""What a process of control loops is told."""

from dataclasses import dataclass
from pathlib import Path

from sampan.loops.context import CLUSTER_CIDR, LEGACY_TOKEN_CLEAN_UP_PERIOD_S

USAGE_ERROR = 2
"""The exit code that says: to start it again would not help."""


@dataclass(frozen=True, slots=True)
class NodeSettings:
    """How the nodes of a process run Pods."""

    runtime: str = "simulated"
    """simulated, or process: a single node whose containers are processes of this machine."""
    root: Path = Path("sampan-node")
    """What a node of processes keeps."""
    images: tuple[tuple[str, str], ...] = ()
    """Image and directory, or `host`."""
    image_directory: Path | None = None
    range_wait_s: float = 5.0
    """How long simulated nodes wait for ranges of addresses if no node-ipam-controller runs in the same process;
    0: they register with ranges that they choose themselves.
    """
    address: str = "127.0.0.1"
    """Where the API server finds the nodes' server."""
    pod_address: str = ""
    """The address of all Pods of a node of processes; empty: the one from which the machine asks others."""
    port: int = 0
    """0: any free one."""


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """The settings of one process of loops; read once, passed down. What is empty does not run."""

    kubeconfig: Path | None = None
    """None: what kubectl would use here."""
    controllers: tuple[str, ...] = ()
    """Their names in the catalogue."""
    scheduler: bool = False
    nodes: tuple[str, ...] = ()
    """The names of nodes."""
    node: NodeSettings = NodeSettings()
    lease: str = ""
    """The Lease in kube-system that the one which works must hold; empty: this process is the only one."""
    service_account_private_key_file: Path | None = None
    """What signs the tokens of Secrets; None: no Secret gets one."""
    cluster_signing_cert_file: Path | None = None
    cluster_signing_key_file: Path | None = None
    """The authority that signs approved CertificateSigningRequests; None: nobody does."""
    allocate_node_cidrs: bool = False
    """Whether the node-ipam-controller runs, if it is among `controllers`."""
    cluster_cidr: str = CLUSTER_CIDR
    """Of which range nodes get the addresses of their Pods."""
    node_cidr_mask_size: int = 24
    legacy_token_clean_up_period_s: float = LEGACY_TOKEN_CLEAN_UP_PERIOD_S
    """How long the token of a Secret that its account names may be out of use."""
    probe_address: str = ""
    """`host:port` of /healthz, /readyz and /metrics; empty: none."""
    ends_with_stdin: bool = False
    """Whether the process ends when its standard input does: when whoever started it is gone."""
    log_level: str = "info"
    log_format: str = "text"
    """text (key=value) or json."""
