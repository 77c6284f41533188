"""Subresources that are forwarded to other servers."""

from sampan.server.verbs.pod_log import get_log
from sampan.server.verbs.pod_streams import Verb, attach, both, exec_, port_forward
from sampan.server.verbs.proxies import any_method, proxy_node, proxy_pod, proxy_service

CONNECTIONS: dict[tuple[str, str], dict[str, Verb]] = {
    ("pods", "log"): {"get": get_log},
    ("pods", "exec"): both(exec_),
    ("pods", "attach"): both(attach),
    ("pods", "portforward"): both(port_forward),
    ("pods", "proxy"): any_method(proxy_pod),
    ("services", "proxy"): any_method(proxy_service),
    ("nodes", "proxy"): any_method(proxy_node),
}
"""Handlers by (resource, subresource) and verb."""
