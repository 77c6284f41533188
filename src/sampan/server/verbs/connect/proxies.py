"""pods/proxy, services/proxy, nodes/proxy: any request, passed on to a Pod, to a Pod behind a service, to a kubelet.

The name in the path may be `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT`.
Source: kubernetes pkg/registry/core/{pod,node}/strategy.go ResourceLocation, pkg/registry/core/service/storage
ResourceLocation, apimachinery pkg/util/net/port_split.go (1.36).
"""

import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sampan.core import errors
from sampan.core.field import quote
from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.core.pods.simulated import not_dialled
from sampan.registry.simulated_pods import SimulatedPods
from sampan.server.proxy.addresses import check_address, resolve
from sampan.server.proxy.paths import path_behind
from sampan.server.proxy.target import ALTERNATIVES_MAX, ProxyTarget, TargetAddress
from sampan.server.request import Response
from sampan.server.verbs.connect.options import admitted, options_of
from sampan.server.verbs.connect.pod_containers import node_of, pod_of
from sampan.server.verbs.scope import RequestScope

_PORT_MAX = 65535


@dataclass(frozen=True, slots=True)
class _Id:
    """Parts of the name in the path."""

    scheme: str
    name: str
    port: str


async def proxy_pod(scope: RequestScope) -> Response:
    """Handle any method of pods/[SCHEME:]NAME[:PORT]/proxy[/PATH]."""
    await _admit(scope, "PodProxyOptions")
    desired = _split(scope, "pod")
    pod = await pod_of(scope, desired.name)
    if SimulatedPods(scope.cluster.reader).has(pod):
        raise errors.service_unavailable(not_dialled(f"the pod {quote(desired.name)}"))
    port = desired.port or _first_port(pod)
    status = pod.get("status") or {}
    ip = next((entry.get("ip") or "" for entry in status.get("podIPs") or ()), "") or status.get("podIP") or ""
    number = _number(scope, "pod", port, desired.scheme)
    return await _forward(scope, desired.scheme, [_endpoint(scope, pod, ip, number)])


async def proxy_service(scope: RequestScope) -> Response:
    """Handle any method of services/[SCHEME:]NAME[:PORT]/proxy[/PATH]: forward to one of the Pods, at random."""
    await _admit(scope, "ServiceProxyOptions")
    desired = _split(scope, "service")
    port_name = await _port_name(scope, desired)
    endpoints = await scope.cluster.reader.find("", "endpoints", scope.ctx.namespace, desired.name)
    if endpoints is None:
        raise errors.not_found(GroupResource("", "services"), desired.name)
    subsets = endpoints.get("subsets") or []
    if not subsets:
        raise _no_endpoints(desired.name)
    simulated, has_simulated = SimulatedPods(scope.cluster.reader), False
    found: list[TargetAddress] = []
    for ip, port in _shuffled(subsets, port_name):
        pod = await _pod_at(scope, ip)
        if pod is not None and not simulated.has(pod):
            found.append(_endpoint(scope, pod, ip["ip"], port))
            if len(found) > ALTERNATIVES_MAX:
                break
        has_simulated = has_simulated or pod is not None
    if found:
        return await _forward(scope, desired.scheme, found)
    if has_simulated:
        raise errors.service_unavailable(not_dialled(f"every pod of service {quote(desired.name)}"))
    raise _no_endpoints(scope.request.info.name)


async def proxy_node(scope: RequestScope) -> Response:
    """Handle any method of nodes/[SCHEME:]NAME[:PORT]/proxy[/PATH]: forward to the kubelet, or to another port of the
    node.
    """
    await _admit(scope, "NodeProxyOptions")
    desired, upstreams = _split(scope, "node"), scope.shared.upstreams
    kubelet = upstreams.kubelets.of(desired.name)
    is_kubelet = not desired.port or desired.port == str(kubelet.port)
    address = ""
    if not is_kubelet or kubelet.way is None or not kubelet.way.is_open:
        address = await resolve(kubelet.host, allow_loopback=upstreams.settings.allow_loopback)
    if not is_kubelet:
        if SimulatedPods(scope.cluster.reader).has_node(desired.name):
            raise errors.service_unavailable(not_dialled(f"the node {quote(desired.name)}"))
        # A node does not let other ports of the machine be reached through its tunnel.
        port = _number(scope, "node", desired.port, desired.scheme)
        return await _forward(scope, desired.scheme, [TargetAddress(address, port)])
    prefix, path = _paths(scope)
    target = ProxyTarget(
        kubelet.host,
        kubelet.port,
        path,
        scope.request.wire.query_string,
        kubelet.tls,
        address=address,
        prefix=prefix,
        way=kubelet.way,
    )
    return await upstreams.kubelet_proxy.forward(scope.request, target)


def _endpoint(scope: RequestScope, pod: Object, ip: str, port: int) -> TargetAddress:
    """Return an endpoint that is reached through the tunnel of the Pod's node, if it has one."""
    return TargetAddress(_address(scope, ip), port, scope.shared.upstreams.tunnels.to(node_of(pod)))


async def _forward(scope: RequestScope, scheme: str, endpoints: Sequence[TargetAddress]) -> Response:
    """Forward the request to the first endpoint that accepts a connection."""
    upstreams, (prefix, path) = scope.shared.upstreams, _paths(scope)
    tls = upstreams.tls if scheme == "https" else None
    (address, port, way), *alternatives = endpoints
    target = ProxyTarget(
        address,
        port,
        path,
        scope.request.wire.query_string,
        tls,
        address=address,
        prefix=prefix,
        way=way,
        alternatives=alternatives,
    )
    return await upstreams.proxy.forward(scope.request, target)


def _paths(scope: RequestScope) -> tuple[str, str]:
    """Return the path up to `proxy`, and the path after it."""
    request = scope.request
    path = path_behind(request.wire.raw_path, request.info)
    raw = request.wire.raw_path
    prefix = raw[: len(raw) - len(path)] if path and raw.endswith(path) else _prefix(scope)
    return prefix, path


def _prefix(scope: RequestScope) -> str:
    info = scope.request.info
    namespace = f"/namespaces/{info.namespace}" if info.namespace else ""
    return f"/api/{info.version}{namespace}/{info.resource}/{info.name}/proxy"


async def _admit(scope: RequestScope, kind: str) -> None:
    info = scope.request.info
    path = "/".join(("", *info.parts[3:])) if len(info.parts) > 3 else ""
    if info.path.endswith("/") and not path.endswith("/"):
        path += "/"
    await admitted(scope, kind, options_of(scope, kind, path=path))


def _split(scope: RequestScope, what: str) -> _Id:
    """Split the name in the path. Raises `StatusError` 400."""
    text = scope.request.info.name
    parts = text.split(":")
    if len(parts) == 3:
        scheme, name, port = parts
    elif len(parts) < 3:
        scheme, name, port = "", parts[0], parts[1] if len(parts) == 2 else ""
    else:
        scheme, name, port = "", "", ""
    if not name or scheme not in ("", "http", "https"):
        raise _invalid(scope, what)
    return _Id(scheme, name, port)


def _number(scope: RequestScope, what: str, port: str, scheme: str) -> int:
    """Parse a port number. Raises `StatusError` 400."""
    if not port:
        return 443 if scheme == "https" else 80
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) <= _PORT_MAX):
        raise _invalid(scope, what)
    return int(port)


def _invalid(scope: RequestScope, what: str) -> errors.StatusError:
    return errors.bad_request(f"invalid {what} request {quote(scope.request.info.name)}")


def _first_port(pod: Object) -> str:
    for container in pod["spec"].get("containers") or ():
        for port in container.get("ports") or ():
            return str(port["containerPort"])
    return ""


def _address(scope: RequestScope, ip: str) -> str:
    return check_address(ip, allow_loopback=scope.shared.upstreams.settings.allow_loopback)


async def _port_name(scope: RequestScope, desired: _Id) -> str:
    """Return the name of the service's port, which may be requested by number too. Raises `StatusError` 404, 503."""
    text = desired.port
    if not (text.isascii() and text.isdigit()):
        return text
    service = await scope.cluster.reader.find("", "services", scope.ctx.namespace, desired.name)
    if service is None:
        raise errors.not_found(GroupResource("", "services"), desired.name)
    for port in service["spec"].get("ports") or ():
        if str(port["port"]) == text.lstrip("0"):
            name: str = port.get("name") or ""
            return name
    text = f"no service port {int(text[:20])} found for service {quote(desired.name)}"
    raise errors.service_unavailable(text)


def _shuffled(subsets: list[Any], port_name: str) -> Iterator[tuple[Any, int]]:
    """Yield the addresses of ready endpoints that have the port, in random order."""
    found = [
        (address, port["port"])
        for subset in subsets
        for port in subset.get("ports") or ()
        if (port.get("name") or "") == port_name
        for address in subset.get("addresses") or ()
    ]
    random.shuffle(found)
    return iter(found)


async def _pod_at(scope: RequestScope, address: Object) -> Object | None:
    """Return the Pod that the endpoint refers to, or None if it has another address. Clients can write any address."""
    target = address.get("targetRef") or {}
    if target.get("namespace") != scope.ctx.namespace or not target.get("name"):
        return None
    pod = await scope.cluster.reader.find("", "pods", scope.ctx.namespace, target["name"])
    ips = (pod.get("status") or {}).get("podIPs") or () if pod is not None else ()
    return pod if any(entry.get("ip") == address.get("ip") for entry in ips) else None


def _no_endpoints(name: str) -> errors.StatusError:
    return errors.service_unavailable(f"no endpoints available for service {quote(name)}")


Verb = Callable[[RequestScope], Awaitable[Response]]


def any_method(verb: Verb) -> dict[str, Verb]:
    """Return handlers for GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS (which has no verb)."""
    return dict.fromkeys(("get", "create", "update", "patch", "delete", ""), verb)
