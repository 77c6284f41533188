"""`CriStreams`: images, logs, commands, connections and statistics of a runtime with CRI.

Source: kubelet pkg/kubelet/kuberuntime/{kuberuntime_image.go,kuberuntime_container.go} (1.36).
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from sampan.node.cri.container_config import (
    CONTAINER_NAME,
)
from sampan.node.cri.container_log import FollowedLog
from sampan.node.cri.errors import CriError
from sampan.node.cri.observer import CriObserver
from sampan.node.cri.pods import CriPod, Run
from sampan.node.cri.registries.pulls import Attempt, own, rewritten
from sampan.node.cri.sandbox_config import POD_UID
from sampan.node.cri.sandbox_port import connect_in, network_namespace
from sampan.node.cri.streaming import open_session
from sampan.node.cri.usage import container_usage, read_networks
from sampan.node.image_name import check_image_name
from sampan.node.process.log_reader import read_log
from sampan.node.runtime import ContainerRecord, ImageError, LogOptions
from sampan.node.sessions import Connection, InterfaceUsage, Session, Streams, Usage
from sampan.node.views import Pod
from sampan.rpc.proto_files import AnyMessage

_STATS_S: Final = 1.0


class CriStreams(CriObserver):
    """Part of the runtime for images and streams. It only reads the observer's state."""

    # ---- images

    async def find_image(self, pod: Pod, image: str) -> str:
        """Return the id of an image; empty if the runtime does not have it. Raises `ImageError`."""
        check_image_name(image)
        try:
            found = await self._image(image)
        except CriError as error:
            raise ImageError("ImageInspectError", f'Failed to inspect image "{image}": {error}') from error
        return "" if found is None else str(found.id)

    async def _image(self, image: str) -> AnyMessage | None:
        """Return an image by its name, or by the name that it has at a mirror. Raises `CriError`."""
        found = await self._client.image_status(image)
        for attempt in () if found is not None else rewritten(await self._registries(), image):
            found = found or await self._client.image_status(attempt.reference)
        return found

    async def pull_image(self, pod: Pod, image: str) -> str:
        """Pull an image. Raises `ImageError`.

        First by its names at mirrors that have others, then by its own name: with the Pod's credentials, with those of
        the node, and without.
        """
        check_image_name(image)
        fault: CriError | None = None
        registries = await self._registries()
        secrets = [Attempt(image, auth) for auth in await self._credentials.of(pod, image)]
        of_node = own(registries, image, runtime=await self._runtime_name()) if registries.configs else ()
        attempts = [*rewritten(registries, image), *secrets, *of_node, Attempt(image, None)]
        for reference, auth in attempts:
            try:
                return await self._client.pull_image(reference, auth=auth)
            except CriError as error:
                fault = fault or error
        raise ImageError("ErrImagePull", str(fault)) from fault

    async def _runtime_name(self) -> str:
        """Return the name of the runtime; empty if it does not respond."""
        try:
            return str((await self._client.version()).runtime_name)
        except CriError:
            return ""

    # ---- streams

    async def logs(self, pod: Pod, container: str, options: LogOptions) -> AsyncIterator[bytes]:
        """Yield a container's log. Raises `LookupError`."""
        known, record = self._record(pod, container)
        if options.previous:
            if record.previous is None:
                message = f'previous terminated container "{container}" in pod "{pod.metadata.name}" not found'
                raise LookupError(message)
            record = record.previous
        id = record.id
        path = self._log_file(known, container, record.restart_count)

        def is_over() -> bool:
            now = known.records.get(container)
            return now is None or now.id != id or not now.is_running

        async for part in read_log(path, options, self._clock.now(), FollowedLog(path, is_over)):
            yield part

    async def run_command(self, pod: Pod, container: str, command: Sequence[str]) -> tuple[int, bytes]:
        """Run a command until it ends. Raises `LookupError`, `OSError`."""
        run = self._running(pod, container)
        try:
            done = await self._client.exec_sync(run.id, command)
        except CriError as error:
            raise OSError(str(error)) from error
        return done.exit_code, done.stdout + done.stderr

    async def exec(self, pod: Pod, container: str, command: Sequence[str], streams: Streams) -> Session:
        """Start a process in a container, and connect to its streams. Raises `LookupError`, `OSError`."""
        run = self._running(pod, container)
        try:
            url = await self._client.exec_url(run.id, command, streams)
        except CriError as error:
            raise OSError(str(error)) from error
        return await open_session(url, streams)

    async def attach(self, pod: Pod, container: str, streams: Streams) -> Session:
        """Connect to the streams of a container. Raises `LookupError`, `OSError`.

        The container determines whether it has a terminal, not the client: a client without one, such as kubectl in
        CI, receives the terminal's output as stdout. The end of its input does not end a terminal's input.
        Source: kubelet pkg/kubelet/kubelet_pods.go GetAttach (1.36).
        """
        run = self._running(pod, container)
        streams = replace(streams, tty=pod.spec.container(container).tty)
        try:
            url = await self._client.attach_url(run.id, streams)
        except CriError as error:
            raise OSError(str(error)) from error
        return await open_session(url, streams, ends_stdin=not streams.tty)

    async def port_forward(self, pod: Pod, port: int) -> Connection:
        """Connect to a port in the Pod's network namespace. Raises `OSError`, `LookupError`."""
        known = self._pods.get(pod.metadata.uid)
        sandbox = known.newest if known is not None else None
        if sandbox is None or not sandbox.is_ready:
            raise LookupError(f'pod "{pod.metadata.name}" does not run')
        if pod.spec.host_network:
            return await connect_in("", port)
        try:
            namespace = network_namespace(await self._client.pod_sandbox_info(sandbox.id))
        except CriError as error:
            raise OSError(str(error)) from error
        if not namespace:
            raise OSError("the container runtime does not report the pod's network namespace")
        return await connect_in(namespace, port)

    async def usage(self, uid: str) -> Mapping[str, Usage]:
        """Return CPU time and working set of the Pod's running containers."""
        now = asyncio.get_running_loop().time()
        if now - self._stats[0] > _STATS_S:
            found: dict[str, dict[str, Usage]] = {}
            for each in await self._client.list_container_stats():
                labels, container = each.attributes.labels, each.attributes.id
                known = self._pods.get(labels.get(POD_UID, ""))
                run = known.runs.get(container) if known is not None else None
                # The runtime also lists containers that have ended, with the name of their successor.
                if run is None or run.record is None or not run.record.is_running:
                    continue
                found.setdefault(labels.get(POD_UID, ""), {})[labels.get(CONTAINER_NAME, "")] = container_usage(each)
            self._stats = (now, found)
        return self._stats[1].get(uid, {})

    async def network_usage(self, uid: str) -> Sequence[InterfaceUsage]:
        """Return the traffic of the Pod's network interfaces; none if the runtime does not measure it."""
        now = asyncio.get_running_loop().time()
        if now - self._network_stats[0] > _STATS_S:
            self._network_stats = (now, await read_networks(self._client, self._running_sandboxes()))
        return self._network_stats[1].get(uid, ())

    def _running_sandboxes(self) -> Mapping[str, str]:
        """Return the sandboxes of Pods by their UIDs."""
        newest = {pod.uid: pod.newest for pod in self._pods}
        return {uid: sandbox.id for uid, sandbox in newest.items() if sandbox is not None and sandbox.is_ready}

    # ---- what is known

    def _record(self, pod: Pod, container: str) -> tuple[CriPod, ContainerRecord]:
        known = self._pods.get(pod.metadata.uid)
        record = known.records.get(container) if known is not None else None
        if known is None or record is None:
            raise LookupError(f'container "{container}" not found in pod "{pod.metadata.name}"')
        return known, record

    def _running(self, pod: Pod, container: str) -> Run:
        known, _ = self._record(pod, container)
        run = known.run_named(container)
        if run is None:
            raise LookupError(f'container "{container}" in pod "{pod.metadata.name}" is not running')
        return run
