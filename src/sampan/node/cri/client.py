"""`CriClient`: calls a container runtime through CRI v1.

    async with CriClient("/run/containerd/containerd.sock") as client:
        await client.connect()
        sandbox_id = await client.run_pod_sandbox(config)

Methods have the names of CRI's. Requests and responses are CRI's messages (`messages.py`).
Cancelling a task cancels its call in the runtime.
Source: cri-client pkg/{remote_runtime,remote_image}.go, cri-api pkg/apis/runtime/v1/api.proto (1.36).
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import grpc
import grpc.aio

from sampan.node.cri.errors import CriError, cri_error
from sampan.node.cri.messages import FILES, AnyMessage, message
from sampan.node.sessions import Streams
from sampan.rpc.client import RpcClient

CONNECT_TIMEOUT_S: Final = 30.0


class CriClient(RpcClient):
    """Client of the RuntimeService and the ImageService on one Unix socket."""

    FILES = FILES
    SERVICES = ("RuntimeService", "ImageService")
    STREAMS = frozenset({"GetContainerEvents"})

    def error(self, method: str, code: grpc.StatusCode, details: str) -> CriError:
        """Return the error of a failed call: `RuntimeUnavailable` if the runtime does not respond."""
        return cri_error(method, code, details)

    # ---- runtime

    async def connect(self, timeout_s: float = CONNECT_TIMEOUT_S) -> AnyMessage:
        """Wait until the runtime responds, and return its VersionResponse. Raises `CriError`."""
        return await self._call("Version", timeout_s=timeout_s, wait_for_ready=True)

    async def version(self) -> AnyMessage:
        """Return name, version and API version of the runtime."""
        return await self._call("Version")

    async def status(self) -> AnyMessage:
        """Return a StatusResponse: the conditions RuntimeReady and NetworkReady, handlers and features."""
        return await self._call("Status")

    async def status_info(self) -> dict[str, str]:
        """Return the runtime's own description of itself: JSON texts by name."""
        return dict((await self._call("Status", verbose=True)).info)

    async def cni_directories(self) -> list[Path]:
        """Return the directories of CNI plug-ins; empty if the runtime does not report them.

        Source: containerd internal/cri/config/config.go CniConfig.
        """
        try:
            cni = json.loads((await self.status_info()).get("config", "{}"))["cni"]
            directories = cni.get("binDirs") or [cni["binDir"]]
            return [Path(each) for each in directories if each]
        except (ValueError, LookupError, TypeError, AttributeError):
            return []

    # ---- sandboxes

    async def run_pod_sandbox(self, config: AnyMessage, runtime_handler: str = "") -> str:
        """Create and start a sandbox, and return its id."""
        response = await self._call(
            "RunPodSandbox", timeout_s=2 * self._timeout_s, config=config, runtime_handler=runtime_handler
        )
        return str(response.pod_sandbox_id)

    async def stop_pod_sandbox(self, sandbox_id: str) -> None:
        """Kill all containers of a sandbox, and release its network. Idempotent."""
        await self._call("StopPodSandbox", pod_sandbox_id=sandbox_id)

    async def remove_pod_sandbox(self, sandbox_id: str) -> None:
        """Remove a sandbox and all its containers. Idempotent."""
        await self._call("RemovePodSandbox", pod_sandbox_id=sandbox_id)

    async def pod_sandbox_status(self, sandbox_id: str) -> AnyMessage:
        """Return a PodSandboxStatus. Raises `CriError` (`is_not_found`)."""
        return (await self._call("PodSandboxStatus", pod_sandbox_id=sandbox_id)).status

    async def pod_sandbox_info(self, sandbox_id: str) -> Mapping[str, str]:
        """Return the runtime's own description of a sandbox: JSON texts by name. Raises `CriError`."""
        return dict((await self._call("PodSandboxStatus", pod_sandbox_id=sandbox_id, verbose=True)).info)

    async def list_pod_sandboxes(self, labels: Mapping[str, str] | None = None) -> Sequence[AnyMessage]:
        """Return all sandboxes with these labels, in any state."""
        chosen = message("PodSandboxFilter")(label_selector=labels or {})
        return list((await self._call("ListPodSandbox", filter=chosen)).items)

    # ---- containers

    async def create_container(self, sandbox_id: str, config: AnyMessage, sandbox_config: AnyMessage) -> str:
        """Create a container, which does not run yet, and return its id."""
        response = await self._call(
            "CreateContainer", pod_sandbox_id=sandbox_id, config=config, sandbox_config=sandbox_config
        )
        return str(response.container_id)

    async def start_container(self, container_id: str) -> None:
        """Start a created container."""
        await self._call("StartContainer", container_id=container_id)

    async def stop_container(self, container_id: str, grace_s: float) -> None:
        """Send the stop signal, kill the container after `grace_s`, and return when it has ended. Idempotent."""
        await self._call(
            "StopContainer", timeout_s=self._timeout_s + grace_s, container_id=container_id, timeout=int(grace_s)
        )

    async def remove_container(self, container_id: str) -> None:
        """Remove a container. One that runs is killed. Idempotent."""
        await self._call("RemoveContainer", container_id=container_id)

    async def container_status(self, container_id: str) -> AnyMessage:
        """Return a ContainerStatus. Raises `CriError` (`is_not_found`)."""
        return (await self._call("ContainerStatus", container_id=container_id)).status

    async def list_containers(self, labels: Mapping[str, str] | None = None) -> Sequence[AnyMessage]:
        """Return all containers with these labels, in any state."""
        chosen = message("ContainerFilter")(label_selector=labels or {})
        return list((await self._call("ListContainers", filter=chosen)).containers)

    async def update_container_resources(self, container_id: str, linux: AnyMessage) -> None:
        """Change the limits of a running container. `linux`: its LinuxContainerResources."""
        await self._call("UpdateContainerResources", container_id=container_id, linux=linux)

    async def exec_sync(self, container_id: str, command: Sequence[str], timeout_s: float = 0.0) -> AnyMessage:
        """Run a command in a container. Returns an ExecSyncResponse: stdout, stderr and exit code.

        `timeout_s`: the runtime kills the command after it; 0 for no limit.
        """
        return await self._call(
            "ExecSync",
            timeout_s=self._timeout_s + timeout_s if timeout_s else None,
            container_id=container_id,
            cmd=command,
            timeout=int(timeout_s),
        )

    async def exec_url(self, container_id: str, command: Sequence[str], streams: Streams) -> str:
        """Return the URL of the runtime's streaming server for a command in a container. It works once."""
        response = await self._call(
            "Exec",
            container_id=container_id,
            cmd=command,
            stdin=streams.stdin,
            stdout=streams.stdout,
            stderr=streams.stderr and not streams.tty,
            tty=streams.tty,
        )
        return str(response.url)

    async def attach_url(self, container_id: str, streams: Streams) -> str:
        """Return the URL for the streams of a container's main process."""
        response = await self._call(
            "Attach",
            container_id=container_id,
            stdin=streams.stdin,
            stdout=streams.stdout,
            stderr=streams.stderr and not streams.tty,
            tty=streams.tty,
        )
        return str(response.url)

    async def reopen_container_log(self, container_id: str) -> None:
        """Make the runtime write to a new log file, after the old one was renamed."""
        await self._call("ReopenContainerLog", container_id=container_id)

    async def list_container_stats(self) -> Sequence[AnyMessage]:
        """Return the ContainerStats of all running containers."""
        return list((await self._call("ListContainerStats")).stats)

    async def list_pod_sandbox_stats(self) -> Sequence[AnyMessage]:
        """Return the PodSandboxStats of all running sandboxes. Raises `CriError` (`is_unimplemented`) from runtimes
        without this call.
        """
        return list((await self._call("ListPodSandboxStats")).stats)

    async def pod_sandbox_stats(self, sandbox_id: str) -> AnyMessage:
        """Return the PodSandboxStats of one running sandbox. Raises `CriError`, also if it does not run."""
        return (await self._call("PodSandboxStats", pod_sandbox_id=sandbox_id)).stats

    async def container_events(self) -> AsyncIterator[AnyMessage]:
        """Yield a ContainerEventResponse for each change of a container, from now on.

        Raises `CriError` (`is_unimplemented`) from runtimes without this call: containerd before 1.7.
        """
        call = self._method("GetContainerEvents")(message("GetEventsRequest")())
        try:
            async for event in call:
                yield event
        except grpc.aio.AioRpcError as error:
            raise cri_error("GetContainerEvents", error.code(), error.details() or "") from error
        finally:
            call.cancel()

    # ---- images

    async def list_images(self) -> Sequence[AnyMessage]:
        """Return all images of the runtime."""
        return list((await self._call("ListImages")).images)

    async def image_status(self, image: str) -> AnyMessage | None:
        """Return an image by reference or id; None if the runtime does not have it."""
        response = await self._call("ImageStatus", image=message("ImageSpec")(image=image))
        return response.image if response.HasField("image") else None

    async def pull_image(
        self, image: str, *, auth: AnyMessage | None = None, sandbox_config: AnyMessage | None = None
    ) -> str:
        """Pull an image, and return its reference by digest or its id. There is no time limit: cancel the task."""
        spec = message("ImageSpec")(image=image)
        response = await self._call("PullImage", timeout_s=None, image=spec, auth=auth, sandbox_config=sandbox_config)
        return str(response.image_ref)

    async def image_mountpoint(self) -> str:
        """Return a path on the file system that stores the images."""
        found = (await self._call("ImageFsInfo")).image_filesystems
        return str(found[0].fs_id.mountpoint) if found else ""

    async def remove_image(self, image: str) -> None:
        """Remove an image by reference or id. Idempotent."""
        await self._call("RemoveImage", image=message("ImageSpec")(image=image))
