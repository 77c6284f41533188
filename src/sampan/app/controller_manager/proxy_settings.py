"""Settings of `sampan proxy`, and of the proxy inside `sampan node`."""

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.core.settings import nested, setting
from sampan.core.settings.kinds import FILE, HOST_AND_PORT
from sampan.core.telemetry.log_settings import LogSettings
from sampan.service_proxy.rules.options import RuleOptions

HEALTHZ_ADDRESS: Final = "0.0.0.0:10256"
METRICS_ADDRESS: Final = "127.0.0.1:10249"
_RULES: Final = "Rules"
_PROCESS: Final = "Process"


@dataclass(frozen=True, slots=True)
class ProxyRuleSettings:
    """Settings of a proxy: the rules that it writes, and its health."""

    options: RuleOptions = nested(RuleOptions)
    healthz_bind_address: str = setting(
        HEALTHZ_ADDRESS, "Address where the proxy answers /healthz and /livez.", kind=HOST_AND_PORT
    )


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """Options of `sampan proxy`."""

    node_name: str = setting(
        "",
        "Name of the Node of this machine. Its Pods are the local endpoints.",
        group=_RULES,
        default="the name of this machine",
    )
    rules: ProxyRuleSettings = nested(ProxyRuleSettings, group=_RULES)
    cleanup: bool = setting(False, "Delete the rules, which stay when the proxy ends, and exit.", group=_RULES)
    kubeconfig: Path | None = setting(
        None,
        "Kubeconfig of the cluster.",
        kind=FILE,
        group=_PROCESS,
        default="as for kubectl: $KUBECONFIG, ~/.kube/config",
    )
    metrics_bind_address: str = setting(
        METRICS_ADDRESS, "Address where the proxy answers /metrics.", kind=HOST_AND_PORT, group=_PROCESS
    )
    log: LogSettings = nested(LogSettings, prefix="log-", group=_PROCESS)

    @property
    def node(self) -> str:
        """Name of the Node."""
        return self.node_name or socket.gethostname().lower()


@dataclass(frozen=True, slots=True)
class NodeProxy:
    """Proxy that a process of control loops runs."""

    node_name: str
    rules: ProxyRuleSettings
