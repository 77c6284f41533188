"""`Upstreams`: all that the verbs need to pass requests on; one for each server. `run` it."""

import asyncio
import ssl
from dataclasses import dataclass, field

from sampan.server.proxy.forward import Proxy
from sampan.server.proxy.kubelet import KubeletConnection, KubeletSettings, NodeReader, unverified_tls


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """What requests may be passed on to."""

    kubelet: KubeletSettings = field(default_factory=KubeletSettings)
    allow_loopback: bool = False
    """Whether `proxy` subresources may lead to loopback addresses: where Pods are processes of the same machine."""


class Upstreams:
    """Raises `OSError` when the kubelet settings' files cannot be used."""

    def __init__(self, nodes: NodeReader, settings: ProxySettings | None = None) -> None:
        self.settings = settings or ProxySettings()
        self.kubelets = KubeletConnection(nodes, self.settings.kubelet)
        self.kubelet_proxy = Proxy(connect_timeout_s=self.settings.kubelet.timeout_s)
        self.proxy = Proxy()
        self.tls: ssl.SSLContext = unverified_tls()
        """For Pods and services."""

    async def run(self) -> None:
        """Keep connections for later requests, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.kubelet_proxy.run())
            group.create_task(self.proxy.run())
