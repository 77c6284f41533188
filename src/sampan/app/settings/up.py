"""`UpSettings`: the settings of `sampan up`. Each field has the meaning and the default of an option.

The order of the fields is the order in --help and in the output of `sampan config`, most used first.
"""

from dataclasses import dataclass, replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

from sampan.app.controller_manager.cidr_settings import NodeCidrSettings
from sampan.app.controller_manager.load_balancer_settings import LoadBalancerSettings
from sampan.app.controller_manager.settings import CRI_NODES, CriNodeSettings
from sampan.app.controller_manager.shared_settings import (
    controllers_setting,
    dns_address_setting,
    dns_setting,
    local_path_setting,
    node_runtime_setting,
    nodes_setting,
    scheduler_setting,
    service_proxy_setting,
)
from sampan.app.engines import ENGINES, Engine
from sampan.app.listen import advertise_setting, bind_setting
from sampan.app.settings.audit import AuditSettings
from sampan.app.settings.authentication import AuthenticationSettings
from sampan.app.settings.resource_metrics import ResourceMetricsOptions
from sampan.core.extras import MissingExtra, require_extra
from sampan.core.settings import ValueKind, nested, setting, settings_of, variants
from sampan.core.settings.kinds import (
    BOOLEAN,
    CERTIFICATES_FILE,
    DIRECTORY,
    FILE,
    HOST_AND_PORT,
    KEY_FILE,
    NAMES,
    SECONDS,
    VERBOSITY,
    integer,
    list_of,
    one_of,
)
from sampan.core.suggestions import did_you_mean
from sampan.core.telemetry.log_settings import LogSettings
from sampan.core.tls.cipher_suites import NAMES as SUITE_NAMES
from sampan.node.runtime_socket import NoRuntime, runtime_socket
from sampan.server.aggregation.settings import AggregationSettings
from sampan.server.connections.unread import UnreadLimits
from sampan.server.dashboard.settings import DashboardSettings
from sampan.server.flow_control.settings import FlowControlSettings
from sampan.server.proxy.kubelet import KubeletSettings
from sampan.server.shared_settings import cors_allowed_origins_setting, hsts_directives_setting, profiling_setting
from sampan.server.tls.serving import VERSIONS
from sampan.server.tls.sni import CertKey, parse_cert_key
from sampan.storage.history.settings import HistorySettings

STORAGE_MEDIA_TYPES = ("application/json", "application/vnd.kubernetes.protobuf")
HTTP2 = ("prefer", "offer", "off")
SERVER: Final = "Server"
STORAGE: Final = "Storage"
LOOPS: Final = "Control loops and nodes"
AUTHORIZATION: Final = "Authorization"
ADMISSION: Final = "Admission"
TLS: Final = "TLS and HTTP"
ENCRYPTION: Final = "Encryption at rest"
BACKENDS: Final = "Kubelets and aggregated APIs"
NETWORKS: Final = "Service networks"
OBSERVABILITY: Final = "Observability"
SHUTDOWN: Final = "Shutdown"


def _check_networks(texts: tuple[str, ...]) -> None:
    networks = [ip_network(text) for text in texts]
    if len(networks) > 2:
        raise ValueError("must not contain more than two entries")
    if len({network.version for network in networks}) < len(networks):
        raise ValueError("two entries must be of different IP families")
    for network in networks:
        if network.num_addresses < 8:
            raise ValueError(f"{network} is too small: it must have at least 8 addresses")


def _read_ports(text: str) -> tuple[int, int] | None:
    if not text:
        return None
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and len(text) <= 11 and 0 < int(first) <= int(last) < 65536):
        raise ValueError(f"{text!r} is not FIRST-LAST, as in 30000-32767")
    return int(first), int(last)


def _read_suite(name: str) -> str:
    if name not in SUITE_NAMES:
        hint = did_you_mean(name, SUITE_NAMES) or f": the suites are {', '.join(SUITE_NAMES)}"
        raise ValueError(f"{name!r} is no cipher suite{hint}")
    return name


def _relocate_pair(pair: CertKey, directory: Path) -> CertKey:
    return replace(pair, certificate=directory / pair.certificate, key=directory / pair.key)


_NETWORKS = list_of(ValueKind("CIDR", lambda text: str(ip_network(text))), metavar="CIDR[,CIDR]", check=_check_networks)
_PORTS = ValueKind("FIRST-LAST", _read_ports, lambda ports: "" if ports is None else "{}-{}".format(*ports))
_CERT_KEYS = list_of(ValueKind("CERT,KEY[:NAMES]", parse_cert_key, relocate=_relocate_pair), separator="", repeat=True)


REQUESTS_VERBOSITY = 4
"""Verbosity (-v) from which every request is logged."""


@dataclass(frozen=True, slots=True)
class UpSettings:
    """Settings of one server process."""

    data: Path = setting(
        Path("sampan-data"),
        "Directory of the database, the certificates and the kubeconfig. Created on the first start.",
        kind=DIRECTORY,
        group=SERVER,
    )
    bind: str = bind_setting(group=SERVER)
    port: int = setting(
        6443,
        "Port to listen on; 0: any free one.",
        kind=integer(0, 65535, metavar="PORT"),
        aliases=("secure-port",),
        group=SERVER,
    )
    advertise_address: str = advertise_setting(group=SERVER)
    extra_apis: bool = setting(
        True,
        "Serve APIs that Kubernetes does not serve: v1beta1 CRDs, v1beta1 and v2alpha1 CronJobs, and "
        "conversion.sampan.dev. The programs of `sampan test assets` serve them only with true.",
        group=SERVER,
    )

    storage: Engine = variants(
        ENGINES,
        "sqlite",
        f"Storage engine. {'; '.join(f'{name}: {engine.summary}' for name, engine in ENGINES.items())}.",
        kind=one_of(*ENGINES),
        name="storage",
        group=STORAGE,
    )
    storage_media_type: str = setting(
        STORAGE_MEDIA_TYPES[0],
        "Encoding of stored objects of built-in kinds; custom resources are always JSON. Both are read.",
        kind=one_of(*STORAGE_MEDIA_TYPES, empty=STORAGE_MEDIA_TYPES[0]),
        group=STORAGE,
    )
    read_only: bool = setting(
        False,
        "Serve the stored objects and write nothing: writes get 405, and no control loops run. For the etcd of a "
        "cluster that another API server maintains.",
        group=STORAGE,
    )
    history: HistorySettings = nested(HistorySettings, prefix="history-", group=STORAGE)
    new_cluster: bool = setting(
        False,
        "Create a new, empty cluster if the database of the data directory is missing or empty. Without it the server "
        "refuses such a directory.",
        group=STORAGE,
    )

    controllers: str = controllers_setting(group=LOOPS)
    scheduler: bool = scheduler_setting(group=LOOPS)
    nodes: int = nodes_setting(group=LOOPS)
    node_runtime: str = node_runtime_setting(group=LOOPS)
    loops_probe_address: str = setting(
        "",
        "Address where the control loops answer /healthz, /readyz and /metrics, without TLS.",
        kind=HOST_AND_PORT,
        group=LOOPS,
        default="none",
    )
    node_cidrs: NodeCidrSettings = nested(NodeCidrSettings, group=LOOPS)
    dns: bool = dns_setting(group=LOOPS)
    dns_address: str = dns_address_setting(group=LOOPS)
    service_proxy: bool = service_proxy_setting(group=LOOPS)
    local_path: bool | None = local_path_setting(group=LOOPS)
    load_balancer: LoadBalancerSettings = nested(LoadBalancerSettings, group=LOOPS)
    network_probe_address: str = setting(
        "",
        "Address where the process of the DNS server and the Service proxy answers /healthz, /readyz and /metrics, "
        "without TLS.",
        kind=HOST_AND_PORT,
        group=LOOPS,
        default="none",
    )

    authentication: AuthenticationSettings = nested(AuthenticationSettings, group="Authentication")

    authorization_mode: tuple[str, ...] = setting(
        ("Node", "RBAC"),
        "Authorizers in their order: Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny.",
        kind=NAMES,
        group=AUTHORIZATION,
    )
    authorization_config: Path | None = setting(
        None,
        "AuthorizationConfiguration, instead of the modes. Reloaded when it changes.",
        kind=FILE,
        group=AUTHORIZATION,
    )
    authorization_policy_file: Path | None = setting(
        None, "Policies of mode ABAC: one JSON object on each line.", kind=FILE, group=AUTHORIZATION
    )
    authorization_webhook_config_file: Path | None = setting(
        None, "Kubeconfig of the webhook of mode Webhook.", kind=FILE, group=AUTHORIZATION
    )
    authorization_webhook_version: str = setting(
        "v1beta1",
        "Version of the SubjectAccessReviews for the webhook.",
        kind=one_of("v1", "v1beta1"),
        group=AUTHORIZATION,
    )
    authorization_webhook_cache_authorized_ttl_s: float = setting(
        300.0, "Time to cache permissions from the webhook; 0s: for one request.", group=AUTHORIZATION
    )
    authorization_webhook_cache_unauthorized_ttl_s: float = setting(
        30.0, "Time to cache other responses of the webhook.", group=AUTHORIZATION
    )

    enable_admission_plugins: tuple[str, ...] = setting(
        (),
        "Admission plug-ins to enable in addition to the default ones. ServiceAccount is enabled by default if the "
        "serviceaccount-controller runs next to the server (--controllers).",
        kind=NAMES,
        group=ADMISSION,
    )
    disable_admission_plugins: tuple[str, ...] = setting(
        (), "Admission plug-ins to disable.", kind=NAMES, group=ADMISSION
    )
    admission_control_config_file: Path | None = setting(
        None, "AdmissionConfiguration: the configuration of admission plug-ins.", kind=FILE, group=ADMISSION
    )

    tls_cert_file: Path | None = setting(
        None,
        "Serving certificate, with its chain. Needs --tls-private-key-file.",
        kind=CERTIFICATES_FILE,
        group=TLS,
        default="one of the server's own CA",
    )
    tls_private_key_file: Path | None = setting(None, "Key of --tls-cert-file.", kind=KEY_FILE, group=TLS)
    cert_dir: Path | None = setting(
        None,
        "Directory of apiserver.crt and apiserver.key, which are created if they do not exist. Has no effect with "
        "--tls-cert-file.",
        kind=DIRECTORY,
        group=TLS,
        default="pki in --data",
    )
    tls_sni_cert_keys: tuple[CertKey, ...] = setting(
        (),
        "Certificate and key for clients that request one of these names (also *.example.com). Without names: those in "
        "the certificate. Can be repeated.",
        name="tls-sni-cert-key",
        kind=_CERT_KEYS,
        group=TLS,
    )
    tls_min_version: str = setting(
        "VersionTLS12", "Lowest version of TLS.", kind=one_of(*VERSIONS, empty="VersionTLS12"), group=TLS
    )
    tls_cipher_suites: tuple[str, ...] = setting(
        (),
        "Cipher suites of TLS 1.2, by their IANA names. Those of TLS 1.3 are always on.",
        kind=list_of(ValueKind("NAME", _read_suite), metavar="NAMES"),
        group=TLS,
        default="those of a Go server: ECDHE with AES-GCM, ChaCha20-Poly1305 or AES-CBC-SHA",
    )
    http2: str = setting(
        "offer",
        "prefer: use HTTP/2 with all clients that can. offer: use it with clients that have nothing else, because "
        "HTTP/1.1 costs less. off: never.",
        kind=one_of(*HTTP2),
        group=TLS,
    )
    http2_max_streams_per_connection: int = setting(
        0,
        "Requests that an HTTP/2 connection may have open; 0: 100.",
        kind=integer(0, metavar="REQUESTS"),
        group=TLS,
    )
    unread: UnreadLimits = nested(UnreadLimits, prefix="max-unread-", group=TLS)
    cors_allowed_origins: tuple[str, ...] = cors_allowed_origins_setting(group=TLS)
    hsts_directives: tuple[str, ...] = hsts_directives_setting(group=TLS)

    dashboard: DashboardSettings = nested(DashboardSettings, group="Dashboard")
    audit: AuditSettings = nested(AuditSettings, prefix="audit-", group="Audit")
    flow_control: FlowControlSettings = nested(FlowControlSettings, group="Flow control")

    encryption_provider_config: Path | None = setting(
        None, "EncryptionConfiguration: which objects are encrypted, with which keys.", kind=FILE, group=ENCRYPTION
    )
    encryption_provider_config_automatic_reload: bool = setting(
        False, "Reload that file when it changes.", group=ENCRYPTION
    )

    log: LogSettings = nested(LogSettings, prefix="log-", group=OBSERVABILITY)
    verbosity: int = setting(
        0,
        "Detail of the log: 1 adds routine messages of the control loops on a terminal, 4 logs every request.",
        name="v",
        kind=VERBOSITY,
        group=OBSERVABILITY,
    )
    profiling: bool = profiling_setting(group=OBSERVABILITY)
    tracing_config_file: Path | None = setting(
        None, "TracingConfiguration: where spans of requests are sent.", kind=FILE, group=OBSERVABILITY
    )

    service_cluster_ip_ranges: tuple[str, ...] = setting(
        (),
        "Networks of a new cluster's Services: one, or one of each IP family, the primary one first.",
        name="service-cluster-ip-range",
        kind=_NETWORKS,
        group=NETWORKS,
        default="10.96.0.0/16",
    )
    service_node_port_range: tuple[int, int] | None = setting(
        None, "Node ports of a new cluster's Services.", kind=_PORTS, group=NETWORKS, default="30000-32767"
    )

    cri: CriNodeSettings = nested(CriNodeSettings, group=CRI_NODES)
    kubelet: KubeletSettings = nested(KubeletSettings, prefix="kubelet-", group=BACKENDS)
    aggregation: AggregationSettings = nested(AggregationSettings, group=BACKENDS)
    resource_metrics: ResourceMetricsOptions = nested(ResourceMetricsOptions, group=BACKENDS)
    proxy_allow_loopback: bool | None = setting(
        None,
        "Allow proxy subresources to connect to Pods and nodes on loopback addresses.",
        kind=BOOLEAN,
        group=BACKENDS,
        default="true if --bind is a loopback address",
    )

    shutdown_delay_s: float = setting(
        0.0,
        "Time in which /readyz fails before the server refuses requests.",
        kind=SECONDS,
        aliases=("shutdown-delay-duration",),
        group=SHUTDOWN,
    )
    drain_timeout_s: float = setting(
        60.0, "Longest time that requests in progress may take at the end.", kind=SECONDS, group=SHUTDOWN
    )
    notes: tuple[str, ...] = ()
    """Warnings about options, for the log."""

    def flags(self) -> tuple[tuple[str, str], ...]:
        """Names and values of all options, for /flagz."""
        found: list[tuple[str, str]] = []
        for option in settings_of(self):
            value: Any = option.default  # `self` is the root, which is the value of this field
            found.append((option.name, "" if value is None else option.kind.write(value)))
        return tuple(found)


def without_loops(settings: UpSettings) -> UpSettings:
    """Return the settings without control loops, which would write to the store all the time."""
    return replace(settings, controllers="", scheduler=False, nodes=0, dns=False, service_proxy=False)


def check(settings: UpSettings) -> None:
    """Raise `ValueError` for options that do not fit together."""
    pairs = (
        ("--tls-cert-file", settings.tls_cert_file, "--tls-private-key-file", settings.tls_private_key_file),
        (
            "--kubelet-client-certificate",
            settings.kubelet.client_certificate,
            "--kubelet-client-key",
            settings.kubelet.client_key,
        ),
        (
            "--proxy-client-cert-file",
            settings.aggregation.client_certificate,
            "--proxy-client-key-file",
            settings.aggregation.client_key,
        ),
    )
    for first, certificate, second, key in pairs:
        if (certificate is None) != (key is None):
            raise ValueError(f"{first} and {second} belong together")
    settings.history.check(shared=settings.storage.shared)
    settings.node_cidrs.resolved()
    if settings.node_runtime == "cri" and settings.nodes:
        settings.cri.check()
        try:
            require_extra("grpc", extra="cri", feature="--node-runtime cri")
            runtime_socket(settings.cri.container_runtime_endpoint)
        except (MissingExtra, NoRuntime) as error:
            raise ValueError(str(error)) from error
    if settings.flow_control.priority_and_fairness and not settings.flow_control.seats:
        raise ValueError("--max-requests-inflight and --max-mutating-requests-inflight cannot both be 0")
    if settings.encryption_provider_config_automatic_reload and settings.encryption_provider_config is None:
        raise ValueError("--encryption-provider-config-automatic-reload must be set with --encryption-provider-config")
