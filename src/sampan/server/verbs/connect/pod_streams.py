"""pods/exec, pods/attach, pods/portforward: upgrades that are forwarded to the kubelet.

Client and kubelet negotiate the protocol (WebSocket or SPDY, and the version of the channels).

Source: kubernetes pkg/registry/core/pod/{strategy,rest/subresources}.go (1.36).
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Final
from urllib.parse import quote, urlencode

from sampan.core import errors
from sampan.core.numbers.integers import integer_or
from sampan.core.object import Object
from sampan.server.proxy.target import ProxyTarget
from sampan.server.request import Request, Response
from sampan.server.verbs.connect.options import admitted, boolean, options_of, require_create
from sampan.server.verbs.connect.pod_containers import container_of, kubelet_failure, node_of, pod_of
from sampan.server.verbs.scope import RequestScope

_PORT_MAX: Final = 65535
_STREAMS = ("stdin", "stdout", "stderr", "tty")
_PARAMS = {"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"}


async def exec_(scope: RequestScope) -> Response:
    """Handle GET and POST pods/NAME/exec: run a command in a container."""
    command = list(scope.request.wire.query.get("command", ()))
    return await _stream(scope, "exec", "PodExecOptions", {"command": command})


async def attach(scope: RequestScope) -> Response:
    """Handle GET and POST pods/NAME/attach: attach to the streams of a container's main process."""
    return await _stream(scope, "attach", "PodAttachOptions", {})


async def port_forward(scope: RequestScope) -> Response:
    """Handle GET and POST pods/NAME/portforward: connect to ports of a Pod."""
    request = scope.request
    ports = _ports(request)
    await admitted(scope, "PodPortForwardOptions", options_of(scope, "PodPortForwardOptions", ports=ports))
    await require_create(scope)
    pod = await pod_of(scope, request.info.name)
    query = {"port": ",".join(map(str, ports))} if ports else {}
    return await _passed_on(scope, pod, ("portForward",), query.items())


async def _stream(scope: RequestScope, action: str, kind: str, more: Object) -> Response:
    request = scope.request
    given: Object = {name: boolean(request, name) for name in _STREAMS}
    options = options_of(scope, kind, **given, container=request.wire.param("container"), **more)
    await admitted(scope, kind, options)
    await require_create(scope)
    pod = await pod_of(scope, request.info.name)
    container = container_of(pod, options.get("container", ""))
    query = [(_PARAMS[name], "1") for name in _STREAMS if options.get(name)]
    query += [("command", word) for word in options.get("command", ())]
    return await _passed_on(scope, pod, (action, container), query)


async def _passed_on(
    scope: RequestScope, pod: Object, words: tuple[str, ...], query: Iterable[tuple[str, str]]
) -> Response:
    """Forward a request to the Pod's kubelet. `words` are the first segment of the kubelet's path, and the segments
    after the Pod.
    """
    metadata, node = pod["metadata"], node_of(pod)
    if not node:
        raise errors.bad_request(f"pod {metadata['name']} does not have a host assigned")
    kubelet = scope.shared.upstreams.kubelets.of(node)
    segments = (words[0], metadata["namespace"], metadata["name"], *words[1:])
    target = ProxyTarget(
        kubelet.host,
        kubelet.port,
        "".join(f"/{quote(segment, safe='')}" for segment in segments),
        urlencode(sorted(query, key=lambda pair: pair[0])),
        kubelet.tls,
        upgrade_only=True,
        failure=kubelet_failure,
        way=kubelet.way,
    )
    return await scope.shared.upstreams.kubelet_proxy.forward(scope.request, target)


def _ports(request: Request) -> list[int]:
    """Return the requested ports. Raises `StatusError` 400."""
    ports = []
    for text in ",".join(request.wire.query.get("ports", ())).split(","):
        if not text:
            continue
        port = integer_or(text, -1, low=0, high=_PORT_MAX)
        if port < 0:
            raise errors.bad_request(f'invalid port "{text}" in the parameter ports: must be 0 to {_PORT_MAX}')
        ports.append(port)
    return ports


Verb = Callable[[RequestScope], Awaitable[Response]]


def both(verb: Verb) -> dict[str, Verb]:
    """Return handlers for GET (WebSocket) and POST (SPDY)."""
    return {"get": verb, "create": verb}
