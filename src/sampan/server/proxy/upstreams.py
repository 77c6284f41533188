"""`ProxyUpstreams`: proxies and connections that the verbs use; one for each server. `run` must be running."""

import asyncio
import ssl
from dataclasses import dataclass, field

from sampan.server.proxy.forward import Proxy
from sampan.server.proxy.kubelet import KubeletConnection, KubeletSettings, NodeReader, unverified_tls
from sampan.streams.tunnels import NodeTunnels


@dataclass(frozen=True, slots=True)
class UpstreamSettings:
    """Settings of proxied requests."""

    kubelet: KubeletSettings = field(default_factory=KubeletSettings)
    allow_loopback: bool = False
    """True to permit loopback addresses in `proxy` subresources, for Pods that are processes of the same machine."""
    sandboxed: bool = True
    """Let browsers run proxied pages in a sandbox, so that they cannot use sessions of the dashboard."""


class ProxyUpstreams:
    """Proxies and kubelet connections of one server. Raises `OSError` if a kubelet file cannot be used."""

    def __init__(
        self, nodes: NodeReader, settings: UpstreamSettings | None = None, tunnels: NodeTunnels | None = None
    ) -> None:
        self.settings = settings or UpstreamSettings()
        self.tunnels = tunnels or NodeTunnels()
        self.kubelets = KubeletConnection(nodes, self.settings.kubelet, self.tunnels)
        sandboxed = self.settings.sandboxed
        self.kubelet_proxy = Proxy(connect_timeout_s=self.settings.kubelet.timeout_s, sandboxed=sandboxed)
        self.proxy = Proxy(sandboxed=sandboxed)
        self.tls: ssl.SSLContext = unverified_tls()
        """TLS context for Pods and services."""

    async def run(self) -> None:
        """Keep idle connections until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.kubelet_proxy.run())
            group.create_task(self.proxy.run())
