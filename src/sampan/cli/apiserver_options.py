"""Options that other programs pass to kube-apiserver (envtest, kubeadm, kubectl's own test suite), and that have no
setting in Sampan. Some of them accept one value only. All others have no effect, are hidden in --help and logged.
"""

from typing import Final

from sampan.app.settings.up import ADMISSION
from sampan.core.settings import Setting, ValueKind
from sampan.core.settings.configuration import Configuration
from sampan.core.settings.kinds import BOOLEAN, TEXT, list_of, one_of

_NO_EFFECT: Final = (
    "allow-metric-labels",
    "allow-metric-labels-manifest",
    "apiserver-count",
    "audit-webhook-batch-initial-backoff",
    "cloud-config",
    "cloud-provider",
    "contention-profiling",
    "coordinated-leadership-lease-duration",
    "coordinated-leadership-renew-deadline",
    "coordinated-leadership-retry-period",
    "debug-socket-path",
    "default-watch-cache-size",
    "delete-collection-workers",
    "disabled-metrics",
    "emulation-forward-compatible",
    "emulated-version",
    "enable-aggregator-routing",
    "enable-garbage-collector",
    "enable-logs-handler",
    "endpoint-reconciler-type",
    "etcd-compaction-interval",
    "etcd-count-metric-poll-period",
    "etcd-db-metric-poll-interval",
    "etcd-healthcheck-timeout",
    "etcd-readycheck-timeout",
    "event-ttl",
    "external-hostname",
    "feature-gates",
    "goaway-chance",
    "kubelet-port",
    "kubelet-read-only-port",
    "lease-reuse-duration-seconds",
    "livez-grace-period",
    "log-flush-frequency",
    "log-json-info-buffer-size",
    "log-json-split-stream",
    "log-text-info-buffer-size",
    "log-text-split-stream",
    "logging-format",
    "max-connection-bytes-per-sec",
    "min-compatibility-version",
    "min-request-timeout",
    "peer-advertise-ip",
    "peer-advertise-port",
    "peer-ca-file",
    "permit-address-sharing",
    "permit-port-sharing",
    "runtime-config",
    "runtime-config-emulation-forward-compatible",
    "service-account-lookup",
    "show-hidden-metrics-for-version",
    "shutdown-send-retry-after",
    "shutdown-watch-termination-grace-period",
    "storage-backend",
    "storage-initialization-timeout",
    "vmodule",
    "watch-cache",
    "watch-cache-sizes",
)
"""Options for features that work differently in Sampan. None of them restricts clients."""
REFUSED: Final = {
    "admission-control": "use --enable-admission-plugins and --disable-admission-plugins",
    "cors-allowed-origins": "use --cors-allowed-origin, once for each expression",
    "disable-http2-serving": "use --http2 off",
    "egress-selector-config-file": "the server connects directly: remove the option",
    "etcd-servers-overrides": "all resources are in one etcd: use --etcd-servers",
    "kubernetes-service-node-port": "the Service kubernetes has no node port: remove the option",
    "service-account-signing-endpoint": "tokens are signed with a key: use --service-account-signing-key-file",
    "tls-curve-preferences": "the TLS library chooses the curves: remove the option",
    "version": "the version of the server is fixed: remove the option",
}
"""Options of kube-apiserver that this server does not have, and the remedy. Empty values, 0 and false mean the
default, and are accepted.
"""
_DEFAULTS: Final = ("", "0", "false")
_ANY: Final = list_of(TEXT, separator="", repeat=True)
_AUDIT_VERSION: Final = "audit.k8s.io/v1"


def _read_privileged(text: str) -> bool:
    if not BOOLEAN.read(text):
        raise ValueError("false is not supported: label namespaces with pod-security.kubernetes.io/enforce instead")
    return True


def _read_port(text: str) -> int:
    if text != "0":
        raise ValueError("a port without TLS is not supported: only 0 is accepted")
    return 0


def _refused(remedy: str) -> ValueKind:
    def read(text: str) -> str:
        if text.lower() not in _DEFAULTS:
            raise ValueError(f"not supported: {remedy}")
        return text

    return ValueKind(TEXT.metavar, read, flag_value="true")


def _accepted(
    name: str, kind: ValueKind, help: str = "", *, group: str = "", hidden: bool = False, flag: bool
) -> Setting:
    return Setting((), name, (), kind, help, group, None, "", hidden=hidden, is_flag=flag)


ACCEPTED: Final = (
    _accepted(
        "allow-privileged",
        ValueKind(BOOLEAN.metavar, _read_privileged),
        "Only true is accepted: Pod Security admission refuses privileged containers.",
        group=ADMISSION,
        flag=True,
    ),
    *(
        _accepted(f"audit-{backend}-version", one_of(_AUDIT_VERSION), "Version of events.", group="Audit", flag=False)
        for backend in ("log", "webhook")
    ),
    _accepted("insecure-port", ValueKind("PORT", _read_port), hidden=True, flag=False),
    *(_accepted(name, _ANY, hidden=True, flag=True) for name in _NO_EFFECT),
    *(_accepted(name, _refused(remedy), hidden=True, flag=True) for name, remedy in REFUSED.items()),
)
"""Options and keys of a file that are accepted, and have no setting."""


def ignored_note(configuration: Configuration) -> tuple[str, ...]:
    """Return a note for the log, if options without effect are given."""
    given = [f"--{name}" for name in _NO_EFFECT if name in configuration.given]
    return (f"options of kube-apiserver without effect here: {', '.join(given)}",) if given else ()
