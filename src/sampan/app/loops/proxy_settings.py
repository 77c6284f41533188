"""Settings of `sampan proxy`, and of the proxy inside `sampan node`."""

import ipaddress
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.app.log_settings import LogSettings
from sampan.core.settings import Kind, nested, setting
from sampan.core.settings.kinds import FILE, HOST_AND_PORT, list_of
from sampan.service_proxy.base_rules import PRIMARY

HEALTHZ_ADDRESS: Final = "0.0.0.0:10256"
METRICS_ADDRESS: Final = "127.0.0.1:10249"
_RULES: Final = "Rules"
_PROCESS: Final = "Process"


def _read_cidr(text: str) -> str:
    try:
        return str(ipaddress.ip_network(text))
    except ValueError as error:
        raise ValueError(f"{error}: expected a range such as 10.128.0.0/9") from error


def _read_node_addresses(text: str) -> str:
    return text if text == PRIMARY else _read_cidr(text)


_CIDRS: Final = list_of(Kind("CIDR", _read_cidr), metavar="CIDRS")
_NODE_ADDRESSES: Final = list_of(Kind("CIDR", _read_node_addresses), metavar="CIDRS")


@dataclass(frozen=True, slots=True)
class ProxyRuleSettings:
    """Settings of the rules that a proxy writes. Names and meanings are kube-proxy's."""

    cluster_cidr: tuple[str, ...] = setting(
        (),
        "Ranges of the addresses of Pods. Traffic to Services from outside of them is masqueraded.",
        kind=_CIDRS,
        default="the Pods' ranges of this Node",
    )
    masquerade_all: bool = setting(False, "Masquerade all traffic to cluster IPs.")
    nodeport_addresses: tuple[str, ...] = setting(
        (),
        "Ranges of this node's addresses that accept NodePorts, or 'primary' for those of the Node object.",
        kind=_NODE_ADDRESSES,
        default="all addresses but loopback",
    )
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
