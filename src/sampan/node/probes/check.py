"""`check`: checks a container once, with the action of its probe.

Source: kubernetes pkg/kubelet/prober/prober.go (1.36).
"""

import asyncio

from sampan.core.pods.expansion import expand, from_mappings
from sampan.node.commands import run_in_container
from sampan.node.environment.fields import PodPlace
from sampan.node.probes.grpc import probe_grpc
from sampan.node.probes.http import http_get_of, probe_http
from sampan.node.probes.outcome import ProbeError, ProbeResult
from sampan.node.probes.ports import resolve_port
from sampan.node.probes.tcp import probe_tcp
from sampan.node.runtime import Runtime
from sampan.node.sessions import Unsupported
from sampan.node.views.container import Container, Probe


async def check(runtime: Runtime, place: PodPlace, container: Container, probe: Probe) -> ProbeResult:
    """Return the outcome of a probe. Raises `ProbeError`."""
    timeout_s = float(probe.timeout_seconds or 1)
    pod_ip = next(iter(place.addresses or place.host_ips))
    try:
        if probe.exec is not None:
            return await _exec(runtime, place, container, probe.exec.command, timeout_s)
        if probe.http_get is not None:
            return await probe_http(http_get_of(probe.http_get, container, pod_ip), timeout_s)
        if probe.tcp_socket is not None:
            port = resolve_port(probe.tcp_socket.port, container)
            return await probe_tcp(probe.tcp_socket.host or pod_ip, port, timeout_s)
        if probe.grpc is not None:
            return await probe_grpc(pod_ip, probe.grpc.port, probe.grpc.service, timeout_s)
    except (LookupError, Unsupported, OSError, ValueError) as error:
        raise ProbeError(str(error)) from error
    raise ProbeError(f"missing probe handler for {place.pod.key}:{container.name}")


async def _exec(
    runtime: Runtime, place: PodPlace, container: Container, command: list[str], timeout_s: float
) -> ProbeResult:
    # Only variables with a literal value are expanded, so that a probe does not read ConfigMaps each time.
    value_of = from_mappings({each.name: each.value for each in container.env})
    expanded = [expand(word, value_of) for word in command]
    try:
        async with asyncio.timeout(timeout_s):
            code, output = await run_in_container(runtime, place.pod, container.name, expanded)
    except TimeoutError:
        text = f'command timed out: "{" ".join(expanded)}" timed out after {timeout_s:g}s'
        return ProbeResult("failure", text)
    return ProbeResult("success" if code == 0 else "failure", output)
