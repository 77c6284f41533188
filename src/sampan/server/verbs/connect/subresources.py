"""Subresources that are forwarded to other servers."""

from dataclasses import dataclass

from sampan.server.verbs.connect.pod_log import get_log
from sampan.server.verbs.connect.pod_streams import Verb, attach, both, exec_, port_forward
from sampan.server.verbs.connect.proxies import any_method, proxy_node, proxy_pod, proxy_service


@dataclass(frozen=True, slots=True)
class ForwardedSubresource:
    """Subresource that is forwarded to another server."""

    handlers: dict[str, Verb]
    """Handlers by verb."""
    options_kind: str = ""
    """Kind of its options; empty: it is read like an object."""

    @property
    def any_method(self) -> bool:
        """True if it is a proxy, which accepts all HTTP methods and any path below its own."""
        return "" in self.handlers


CONNECTIONS: dict[tuple[str, str], ForwardedSubresource] = {
    ("pods", "log"): ForwardedSubresource({"get": get_log}),
    ("pods", "exec"): ForwardedSubresource(both(exec_), "PodExecOptions"),
    ("pods", "attach"): ForwardedSubresource(both(attach), "PodAttachOptions"),
    ("pods", "portforward"): ForwardedSubresource(both(port_forward), "PodPortForwardOptions"),
    ("pods", "proxy"): ForwardedSubresource(any_method(proxy_pod), "PodProxyOptions"),
    ("services", "proxy"): ForwardedSubresource(any_method(proxy_service), "ServiceProxyOptions"),
    ("nodes", "proxy"): ForwardedSubresource(any_method(proxy_node), "NodeProxyOptions"),
}
"""Connections by resource and subresource, all of the core group."""
