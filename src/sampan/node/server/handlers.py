"""Handlers for the paths of a node's server, after authorization.

Source: kubelet pkg/kubelet/server/server.go; kuberuntime `GetPods` (1.36).
"""

import datetime as dt
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from sampan.core.time import Clock
from sampan.http.server import AnyResponse, Request, Response
from sampan.node.runtime import Runtime
from sampan.node.server.cadvisor import cadvisor_metrics
from sampan.node.server.hosted import FindPod, HostedPod, ListPods
from sampan.node.server.log_files import log_file_response
from sampan.node.server.logs import logs_response
from sampan.node.server.options import NodeServerOptions
from sampan.node.server.port_forward import serve_port_forward
from sampan.node.server.remote_command import BadStreams, desired_streams, serve_command
from sampan.node.server.usage import (
    NodeUsage,
    PodUsage,
    ReadVolumeStats,
    no_volume_stats,
    pod_usages,
    resource_metrics,
    summary,
)
from sampan.node.sessions import ContainerSession, ContainerStats
from sampan.node.views.pod import Pod

_log = logging.getLogger("sampan.node")
_JSON: Final = "application/json"
_NOT_FOUND: Final = Response(404, b"404 page not found\n")
_CHECKS: Final = ("", "ping", "log", "syncloop")


class NotHosted(Exception):
    """The Pod or container does not exist. The message is sent to the client."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.response = Response(code, text.encode())


@dataclass(frozen=True, slots=True)
class Handlers:
    """Responds to authorized requests."""

    find_pod: FindPod
    list_pods: ListPods
    node_usage: Callable[[], ContainerStats | None]
    options: NodeServerOptions
    clock: Clock
    registry: CollectorRegistry
    """Metrics of the process."""
    started_at: dt.datetime
    """Start time of the node agent."""
    volume_stats: ReadVolumeStats = no_volume_stats

    async def respond(self, request: Request) -> AnyResponse:
        """Return the response; 404 for an unknown path."""
        first, *rest = [unquote(step) for step in request.path.lstrip("/").split("/")]
        try:
            if first in ("exec", "attach", "portForward"):
                return self._stream(request, first, rest)
            if request.method not in ("GET", "HEAD"):
                return Response(405, b"405: Method Not Allowed")
            if first == "containerLogs" and len(rest) == 3:
                pod, runtime = self._pod(rest[:2], f'pod "{rest[1]}" does not exist')
                return await logs_response(request, pod, runtime, rest[2])
        except NotHosted as missing:
            return missing.response
        if first == "logs":
            return await log_file_response(self.options.log_directory, "/".join(rest))
        return await self._document("/".join((first, *rest)).rstrip("/"))

    async def _document(self, path: str) -> Response:
        """Return a response that has a body and takes no parameters."""
        match path:
            case "pods":
                return Response(200, _pod_list(self.list_pods()), _JSON)
            case "runningpods":
                return Response(200, _running_pod_list(self.list_pods()), _JSON)
            case "stats/summary":
                node = NodeUsage(self.options.node_name, self.node_usage(), self.started_at)
                shown = summary(
                    await pod_usages(self.list_pods(), with_networks=True), node, self.clock.now(), self.volume_stats
                )
                return Response(200, msgspec.json.encode(shown), _JSON)
            case "metrics/resource":
                text = resource_metrics(await self._usages(), self.node_usage(), self.clock.now())
                return Response(200, text, "text/plain; version=0.0.4; charset=utf-8")
            case "metrics/cadvisor":
                text = cadvisor_metrics(await self._usages(with_networks=True) or (), self.node_usage())
                return Response(200, text, "text/plain; version=0.0.4; charset=utf-8")
            case "metrics":
                return Response(200, generate_latest(self.registry), CONTENT_TYPE_LATEST)
            case "configz":
                return Response(200, msgspec.json.encode({"kubeletconfig": dict(self.options.configuration)}), _JSON)
        kind, _, name = path.partition("/")
        return Response(200, b"ok") if kind == "healthz" and name in _CHECKS else _NOT_FOUND

    async def _usages(self, *, with_networks: bool = False) -> list[PodUsage] | None:
        """Return the usage of all Pods; None if it cannot be read."""
        try:
            return await pod_usages(self.list_pods(), with_networks=with_networks)
        except Exception as error:
            _log.warning("cannot read the resource usage of pods: %s", error)
            return None

    def _stream(self, request: Request, kind: str, steps: Sequence[str]) -> AnyResponse:
        if request.method not in ("GET", "POST"):
            return Response(405, b"405: Method Not Allowed")
        if kind == "portForward":
            return self._port_forward(request, steps) if len(steps) in (2, 3) else _NOT_FOUND
        if len(steps) not in (3, 4):
            return _NOT_FOUND
        try:
            desired = desired_streams(request)
        except BadStreams as error:
            return Response(400, str(error).encode())
        pod, runtime = self._pod(steps[:-1], "pod does not exist")
        container = steps[-1]
        command = request.query.get("command") or []
        if kind == "exec" and not command:
            return Response(400, b"you must specify at least one command for the container")
        record = runtime.containers(pod.metadata.uid).get(container)
        if record is None or not record.is_running:
            raise NotHosted(500, f'container not found ("{container}")')

        async def execute() -> ContainerSession:
            return await runtime.exec(pod, container, command, desired)

        async def attach() -> ContainerSession:
            return await runtime.attach(pod, container, desired)

        return serve_command(request, desired, execute if kind == "exec" else attach, attached=kind == "attach")

    def _port_forward(self, request: Request, steps: Sequence[str]) -> AnyResponse:
        pod, runtime = self._pod(steps, "pod does not exist")
        shown = f"{pod.metadata.name}_{pod.metadata.namespace}, uid {pod.metadata.uid}"
        return serve_port_forward(request, shown, lambda port: runtime.port_forward(pod, port))

    def _pod(self, steps: Sequence[str], missing: str) -> tuple[Pod, Runtime]:
        """Return a Pod by namespace, name and optional uid. Raises `NotHosted`."""
        found = self.find_pod(steps[0], steps[1])
        if found is None:
            raise NotHosted(404, missing)
        if len(steps) > 2 and steps[2] and found[0].metadata.uid != steps[2]:
            raise NotHosted(404, "pod not found")
        return found


def _pod_list(pods: Iterable[HostedPod]) -> bytes:
    """Return the list of all Pods with all fields, for /pods."""
    return _list(hosted.raw for hosted in pods)


def _running_pod_list(pods: Iterable[HostedPod]) -> bytes:
    """Return the list of Pods with running containers, for /runningpods. Its fields are those that runtimes provide."""
    shown = ((hosted, _running(hosted)) for hosted in pods)
    return _list(msgspec.json.encode(_pod(hosted, containers)) for hosted, containers in shown if containers)


def _running(hosted: HostedPod) -> list[dict[str, Any]]:
    spec = hosted.pod.spec
    records = hosted.runtime.containers(hosted.pod.metadata.uid)
    running = {name for name, record in records.items() if record.is_running}
    return [
        {"name": each.name, "image": each.image, "resources": {}}
        for each in (*spec.init_containers, *spec.containers)
        if each.name in running
    ]


def _pod(hosted: HostedPod, containers: list[dict[str, Any]]) -> dict[str, Any]:
    metadata = hosted.pod.metadata
    named = {"name": metadata.name, "namespace": metadata.namespace, "uid": metadata.uid}
    return {"metadata": named, "spec": {"containers": containers}, "status": {}}


def _list(items: Iterable[bytes]) -> bytes:
    return b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[' + b",".join(items) + b"]}\n"
