"""`set_up`: adds a service proxy to a manager."""

import logging

from sampan.http.server import HttpLimits, HttpListener
from sampan.operator.manager import Group, Manager
from sampan.service_proxy.errors import ServiceProxyError
from sampan.service_proxy.kernel import Kernel
from sampan.service_proxy.metrics import ProxyMetrics
from sampan.service_proxy.proxy import ServiceProxy
from sampan.service_proxy.rules.options import RuleOptions
from sampan.service_proxy.sources import sources_of

_log = logging.getLogger("sampan.proxy")


def set_up(
    manager: Manager,
    node_name: str,
    *,
    options: RuleOptions = RuleOptions(),
    healthz_address: str = "",
    kernel: Kernel | None = None,
    keeps_running: bool = False,
    reads_nodes: bool = True,
) -> ServiceProxy:
    """Add the proxy of a node. `healthz_address`: `host:port` of /healthz; empty for none.

    `keeps_running`: if the machine cannot run a proxy, log it and continue with the other parts of the manager.
    `reads_nodes`: False for the credentials of a node, which may read only its own Node.
    """
    sources = sources_of(manager.informers, node_name, reads_nodes=reads_nodes)
    proxy = ServiceProxy(sources, node_name, ProxyMetrics(manager.registry), options=options, kernel=kernel)

    async def run() -> None:
        try:
            await proxy.run()
        except ServiceProxyError as error:
            if not keeps_running:
                raise
            _log.error("cannot make Services reachable on this machine: %s", error)

    manager.add(run, group=Group.OTHERS)
    if healthz_address:
        host, _, port = healthz_address.rpartition(":")
        limits = HttpLimits(keep_alive=False)
        listener = HttpListener(proxy.health.respond, host.strip("[]"), int(port), limits=limits)
        manager.add(listener, group=Group.HTTP_SERVERS)
    return proxy
