"""Options that other programs pass to kube-apiserver (envtest, kubeadm, kubectl's own test suite), and that have no
setting in Sampan. Some of them accept one value only. All others have no effect, are hidden in --help and logged.
"""

from typing import Final

from sampan.app.configuration import Configuration
from sampan.app.settings import ADMISSION
from sampan.core.settings import Kind, Setting
from sampan.core.settings.kinds import BOOLEAN, TEXT, list_of, one_of

_NO_EFFECT: Final = (
    "apiserver-count",
    "cloud-config",
    "cloud-provider",
    "contention-profiling",
    "default-watch-cache-size",
    "delete-collection-workers",
    "emulated-version",
    "enable-aggregator-routing",
    "enable-garbage-collector",
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
    "lease-reuse-duration-seconds",
    "livez-grace-period",
    "logging-format",
    "max-connection-bytes-per-sec",
    "min-request-timeout",
    "runtime-config",
    "service-account-lookup",
    "shutdown-send-retry-after",
    "storage-backend",
    "storage-initialization-timeout",
    "vmodule",
    "watch-cache",
    "watch-cache-sizes",
)
"""Options for features that work differently in Sampan. None of them restricts clients."""
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


def _accepted(name: str, kind: Kind, help: str = "", *, group: str = "", hidden: bool = False, flag: bool) -> Setting:
    return Setting((), name, (), kind, help, group, None, "", hidden=hidden, is_flag=flag)


ACCEPTED: Final = (
    _accepted(
        "allow-privileged",
        Kind(BOOLEAN.metavar, _read_privileged),
        "Only true is accepted: Pod Security admission refuses privileged containers.",
        group=ADMISSION,
        flag=True,
    ),
    *(
        _accepted(f"audit-{backend}-version", one_of(_AUDIT_VERSION), "Version of events.", group="Audit", flag=False)
        for backend in ("log", "webhook")
    ),
    _accepted("insecure-port", Kind("PORT", _read_port), hidden=True, flag=False),
    *(_accepted(name, _ANY, hidden=True, flag=True) for name in _NO_EFFECT),
)
"""Options and keys of a file that are accepted, and have no setting."""


def ignored_note(configuration: Configuration) -> tuple[str, ...]:
    """Return a note for the log, if options without effect are given."""
    given = [f"--{name}" for name in _NO_EFFECT if name in configuration.given]
    return (f"options of kube-apiserver without effect here: {', '.join(given)}",) if given else ()
