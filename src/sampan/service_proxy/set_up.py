"""`set_up`: adds a service proxy to a manager."""

from sampan.operator.http import HttpLimits, HttpListener
from sampan.operator.manager import Group, Manager
from sampan.service_proxy.base_rules import RuleOptions
from sampan.service_proxy.kernel import Kernel
from sampan.service_proxy.metrics import ProxyMetrics
from sampan.service_proxy.proxy import ServiceProxy
from sampan.service_proxy.sources import sources_of


def set_up(
    manager: Manager,
    node_name: str,
    *,
    options: RuleOptions = RuleOptions(),
    healthz_address: str = "",
    kernel: Kernel | None = None,
) -> ServiceProxy:
    """Add the proxy of a node. `healthz_address`: `host:port` of /healthz; empty for none."""
    sources = sources_of(manager.informers, node_name)
    proxy = ServiceProxy(sources, node_name, ProxyMetrics(manager.registry), options=options, kernel=kernel)
    manager.add(proxy, group=Group.OTHERS)
    if healthz_address:
        host, _, port = healthz_address.rpartition(":")
        limits = HttpLimits(keep_alive=False)
        listener = HttpListener(proxy.health.answer, host.strip("[]"), int(port), limits=limits)
        manager.add(listener, group=Group.HTTP_SERVERS)
    return proxy
