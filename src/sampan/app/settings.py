"""What `sampan up` is told."""

from dataclasses import dataclass
from pathlib import Path

from sampan.server.sni import CertKey

STORAGES = ("sqlite", "memory")
HTTP2 = ("prefer", "offer", "off")


@dataclass(frozen=True, slots=True)
class UpSettings:
    """The settings of one server process; read once, passed down."""

    data: Path = Path("sampan-data")
    """Where certificates, credentials and the database are."""
    bind: str = "127.0.0.1"
    """The address to listen on."""
    port: int = 6443
    """0: any free one."""
    storage: str = "sqlite"
    """One of `STORAGES`; memory forgets everything at the end."""
    token_auth_file: Path | None = None
    """CSV: token,user,uid,"group1,group2"."""
    client_ca_file: Path | None = None
    """Who else signs client certificates, besides the server's own CA."""
    tls_cert_file: Path | None = None
    tls_private_key_file: Path | None = None
    """A serving certificate of one's own; both or none."""
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
    controllers: str = "*"
    """Which control loops run beside the server: names, `*` for all, `-name` to leave one out; empty: none."""
    scheduler: bool = True
    """Whether the scheduler runs beside the server."""
    nodes: int = 1
    """How many simulated nodes run beside the server."""
    log_level: str = "info"
    log_format: str = "text"
    """text (key=value) or json."""
    shutdown_delay_s: float = 0.0
    """How long /readyz fails before requests are refused."""
    drain_timeout_s: float = 60.0
    """How long requests under way may take after the end was asked for."""
    request_timeout_s: float = 60.0

    def flags(self) -> tuple[tuple[str, str], ...]:
        """For /flagz."""
        return tuple((name.replace("_", "-"), str(getattr(self, name))) for name in self.__dataclass_fields__)
