"""What `sampan up` is told."""

from dataclasses import dataclass, field
from pathlib import Path

from sampan.app.audit_settings import AuditSettings
from sampan.app.authentication_settings import AuthenticationSettings
from sampan.server.proxy.kubelet import PREFERRED_ADDRESS_TYPES
from sampan.server.sni import CertKey

STORAGES = ("sqlite", "etcd", "memory")
STORAGE_MEDIA_TYPES = ("application/json", "application/vnd.kubernetes.protobuf")
HTTP2 = ("prefer", "offer", "off")
RUNTIMES = ("simulated", "process")


@dataclass(frozen=True, slots=True)
class UpSettings:
    """The settings of one server process; read once, passed down."""

    data: Path = Path("sampan-data")
    """Where certificates, credentials and the database are."""
    new_cluster: bool = False
    """Begin an empty cluster in a data directory whose database is gone."""
    bind: str = "127.0.0.1"
    """The address to listen on."""
    port: int = 6443
    """0: any free one."""
    advertise_address: str = ""
    """The IP address in the endpoints of the Service `kubernetes`; empty: the one that the server is bound to."""
    service_cluster_ip_ranges: tuple[str, ...] = ()
    """Networks of a new cluster's Services: one, or one of each family, the primary first; empty: 10.96.0.0/16."""
    service_node_port_range: tuple[int, int] | None = None
    """First and last node port of a new cluster; None: 30000 and 32767."""
    storage: str = "sqlite"
    """One of `STORAGES`; memory forgets everything at the end."""
    etcd_servers: tuple[str, ...] = ("http://127.0.0.1:2379",)
    """The URLs of etcd's endpoints."""
    etcd_cafile: Path | None = None
    etcd_certfile: Path | None = None
    etcd_keyfile: Path | None = None
    """Who signs the certificates of etcd's servers; what they are shown, both or none."""
    etcd_prefix: str = "/registry"
    """What keys begin with in etcd."""
    storage_media_type: str = STORAGE_MEDIA_TYPES[0]
    """One of `STORAGE_MEDIA_TYPES`: how built-in kinds are stored. All of them are read."""
    read_only: bool = False
    """Whether the store is left as it is."""
    authentication: AuthenticationSettings = field(default_factory=AuthenticationSettings)
    """Who may be who."""
    audit: AuditSettings = field(default_factory=AuditSettings)
    """What is recorded of requests, and where."""
    tracing_config_file: Path | None = None
    """A TracingConfiguration: where spans go; None: nobody collects any."""
    token_auth_file: Path | None = None
    """CSV: token,user,uid,"group1,group2"."""
    client_ca_file: Path | None = None
    """Who else signs client certificates, besides the server's own CA."""
    tls_cert_file: Path | None = None
    tls_private_key_file: Path | None = None
    """The serving certificate and its key; both or none."""
    cert_dir: Path | None = None
    """Where apiserver.crt and apiserver.key are, or are put, unless `tls_cert_file` is given; None: in `data`."""
    tls_sni_cert_keys: tuple[CertKey, ...] = ()
    """Further serving certificates, for clients that ask for their names."""
    tls_min_version: str = "VersionTLS12"
    tls_cipher_suites: tuple[str, ...] = ()
    """Of TLS 1.2; none: those of the TLS library."""
    http2: str = "offer"
    """One of `HTTP2`. offer: for clients that speak nothing else; prefer: for all that can."""
    http2_max_streams_per_connection: int = 0
    """0: as many as Kubernetes allows."""
    cors_allowed_origins: tuple[str, ...] = ()
    profiling: bool = True
    """Whether /debug/pprof answers."""
    enable_admission_plugins: tuple[str, ...] = ()
    disable_admission_plugins: tuple[str, ...] = ()
    admission_control_config_file: Path | None = None
    """An AdmissionConfiguration: what plug-ins are told."""
    authorization_mode: tuple[str, ...] = ("Node", "RBAC")
    """Who is asked whether a request may be, in their order."""
    authorization_config: Path | None = None
    """An AuthorizationConfiguration in the place of the modes; read again when it changes."""
    authorization_webhook_config_file: Path | None = None
    """A kubeconfig for the mode Webhook."""
    authorization_webhook_version: str = "v1beta1"
    """Of the reviews that it is sent."""
    authorization_webhook_cache_authorized_ttl_s: float = 300.0
    """How long an allowance of it counts; 0: for one request."""
    authorization_webhook_cache_unauthorized_ttl_s: float = 30.0
    """How long every other answer counts."""
    authorization_policy_file: Path | None = None
    """The policies of the mode ABAC, one a line."""
    controllers: str = "*"
    """Which control loops run beside the server: names, `*` for all, `-name` to leave one out; empty: none."""
    scheduler: bool = True
    """Whether the scheduler runs beside the server."""
    loops_probe_address: str = ""
    """Where the loops beside the server answer /healthz, /readyz and /metrics, without TLS; empty: nowhere."""
    allocate_node_cidrs: bool = False
    """Whether the node-ipam-controller gives Nodes parts of `cluster_cidr`."""
    cluster_cidr: str = ""
    node_cidr_mask_size: int | None = None
    """The prefix length of such a part; empty and None: the defaults of the loops."""
    nodes: int = 1
    """How many nodes run beside the server; of processes there is one at most."""
    node_runtime: str = "simulated"
    """One of `RUNTIMES`. process: containers are processes of this machine; what they keep is in the data directory."""
    kubelet_client_certificate: Path | None = None
    kubelet_client_key: Path | None = None
    """What kubelets are shown; both, or none: the data directory's."""
    kubelet_certificate_authority: Path | None = None
    """Who signs kubelets' serving certificates; None: they are not verified."""
    kubelet_preferred_address_types: tuple[str, ...] = PREFERRED_ADDRESS_TYPES
    kubelet_timeout_s: float = 5.0
    """How long a connection to a kubelet may take."""
    proxy_allow_loopback: bool | None = None
    """Whether proxy subresources may lead to loopback addresses; None: if `bind` is one."""
    proxy_client_cert_file: Path | None = None
    proxy_client_key_file: Path | None = None
    """What the servers behind APIServices are shown; both, or none: the data directory's front proxy certificate."""
    aggregator_reject_forwarding_redirect: bool = True
    """Whether a redirect of such a server is answered with 502."""
    encryption_provider_config: Path | None = None
    """An EncryptionConfiguration: what is encrypted in the store."""
    encryption_provider_config_automatic_reload: bool = False
    """Whether it is read again when it changes."""
    enable_priority_and_fairness: bool = True
    """Whether FlowSchemas say which requests run; else only the two limits hold."""
    max_requests_inflight: int = 400
    max_mutating_requests_inflight: int = 200
    """How many reading and changing requests run at once."""
    log_level: str = "info"
    log_format: str = "text"
    """text (key=value) or json."""
    shutdown_delay_s: float = 0.0
    """How long /readyz fails before requests are refused."""
    drain_timeout_s: float = 60.0
    """How long requests under way may take after the end was asked for."""
    request_timeout_s: float = 60.0
    notes: tuple[str, ...] = ()
    """Warnings about options, to be logged at the start."""

    def flags(self) -> tuple[tuple[str, str], ...]:
        """For /flagz."""
        names = [name for name in self.__dataclass_fields__ if name not in ("authentication", "audit", "notes")]
        own = tuple((name.replace("_", "-"), str(getattr(self, name))) for name in names)
        return (*own, *self.authentication.flags(), *self.audit.flags())
