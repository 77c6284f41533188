"""`OperatorSettings`: settings of an operator's process, from which its flags are made."""

from dataclasses import dataclass
from pathlib import Path

from sampan.core.settings import ValueKind, nested, setting
from sampan.core.settings.kinds import DIRECTORY, FILE, NAMES, list_of
from sampan.core.telemetry.log_settings import LEVELS, LogSettings


def _read_address(text: str) -> str:
    if text in ("", "0"):
        return ""
    _, colon, port = text.rpartition(":")
    if not (colon and port.isdecimal() and int(port) < 65536):
        raise ValueError(f"{text!r} is not host:port, :port or 0")
    return text


def _read_level(text: str) -> tuple[str, str]:
    name, _, level = text.partition("=")
    if not name or level not in LEVELS:
        raise ValueError(f"{text!r} is not NAME=LEVEL with a level of {', '.join(LEVELS)}")
    return name, level


def _read_service(text: str) -> str:
    namespace, _, name = text.partition("/")
    if text and not (namespace and name and "/" not in name):
        raise ValueError(f"{text!r} is not NAMESPACE/NAME")
    return text


def _read_rate(text: str) -> float:
    rate = float(text)
    if not 0 <= rate <= 1:
        raise ValueError(f"{text} is not between 0 and 1")
    return rate


ADDRESS = ValueKind("[HOST]:PORT", _read_address)
"""Address to listen at. Without a host: all addresses. Empty or 0: none."""
LOG_LEVELS = list_of(ValueKind("NAME=LEVEL", _read_level, lambda pair: "=".join(pair)), repeat=True)
RATE = ValueKind("RATE", _read_rate)
SERVICE = ValueKind("NAMESPACE/NAME", _read_service)


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    """Settings of an operator's process. Each field is a flag, a variable `SAMPAN_…` and a key of the settings file.

    The names of the flags are those of kubebuilder's projects.
    """

    log: LogSettings = nested(LogSettings, prefix="log-", group="Log")
    log_levels: tuple[tuple[str, str], ...] = setting(
        (), "Other levels for some controllers or loggers, for example boats=debug,sampan.client=warning.",
        kind=LOG_LEVELS, group="Log",
    )  # fmt: skip
    kubeconfig: Path | None = setting(
        None, "Kubeconfig of the cluster. Default: KUBECONFIG, ~/.kube/config, then the Pod's service account.",
        kind=FILE, group="Cluster",
    )  # fmt: skip
    context: str = setting("", "Context of the kubeconfig. Default: its current context.", group="Cluster")
    namespaces: tuple[str, ...] = setting((), "Namespaces to watch. Default: all.", kind=NAMES, group="Cluster")
    leader_elect: bool = setting(
        False, "Elect a leader among the replicas; only the leader reconciles.", group="Leader election"
    )
    leader_election_id: str = setting("", "Name of the Lease. Default: the operator's name.", group="Leader election")
    leader_election_namespace: str = setting(
        "", "Namespace of the Lease. Default: that of the Pod or the context.", group="Leader election"
    )
    health_probe_bind_address: str = setting(
        ":8081", "Address of /healthz and /readyz; 0: none.", kind=ADDRESS, group="Health and metrics"
    )
    metrics_bind_address: str = setting(
        ":8443", "Address of /metrics; 0: none.", kind=ADDRESS, group="Health and metrics"
    )
    metrics_secure: bool = setting(
        True, "Serve metrics over TLS to clients whose token the API server accepts and which may `get` the path.",
        group="Health and metrics",
    )  # fmt: skip
    metrics_cert_path: Path | None = setting(
        None, "Directory with tls.crt and tls.key of the metrics. They are reloaded. Default: a self-signed pair.",
        kind=DIRECTORY, group="Health and metrics",
    )  # fmt: skip
    webhook_service: str = setting(
        "", "Service through which API servers reach the webhooks. Their certificates are in the Secret of this name. "
        "Default: that of the code.",
        kind=SERVICE, group="Webhooks",
    )  # fmt: skip
    webhook_cert_path: Path | None = setting(
        None, "Directory with tls.crt, tls.key and perhaps ca.crt of the webhooks, for example of cert-manager. They "
        "are reloaded. Default: certificates that the operator issues.",
        kind=DIRECTORY, group="Webhooks",
    )  # fmt: skip
    webhook_configurations: str = setting(
        "", "Name of the webhook configurations that the operator keeps; 0: none. Default: that of the code.",
        group="Webhooks",
    )  # fmt: skip
    webhook_conversions: bool = setting(
        True, "Write conversions into the CRDs. False: another installation of the operator does.", group="Webhooks"
    )
    profiling: bool = setting(
        False,
        "Serve profiles for `go tool pprof` at /debug/pprof/ of the metrics address.",
        group="Health and metrics",
    )
    tracing_endpoint: str = setting(
        "", "host:port of a collector (OTLP over gRPC) for spans of reconciles and their requests.", group="Tracing"
    )
    tracing_sampling_rate: float = setting(
        1.0, "Share of the reconciles that are traced, from 0 to 1.", kind=RATE, group="Tracing"
    )
    tracing_insecure: bool = setting(True, "Export spans without TLS.", group="Tracing")
    graceful_shutdown_timeout_s: float = setting(
        30.0, "Time in which running reconciles may finish after SIGTERM.", group="Shutdown"
    )
