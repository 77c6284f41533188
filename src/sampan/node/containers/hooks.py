"""Hooks: actions after a container's start and before its end.

Source: kubernetes pkg/kubelet/lifecycle/handlers.go (1.36).
"""

import asyncio

from sampan.node.commands import run_in_container
from sampan.node.environment.fields import PodPlace
from sampan.node.probes.http import HttpFailed, http_get_of, send
from sampan.node.runtime import Runtime
from sampan.node.sessions import Unsupported
from sampan.node.views.container import Container, Handler


class HookFailed(Exception):
    """A hook has failed. The text may contain the command's output, so log it, and do not write it to events."""


async def run_hook(runtime: Runtime, place: PodPlace, container: Container, handler: Handler) -> None:
    """Run a hook until it ends. Raises `HookFailed`."""
    if handler.sleep is not None:
        await asyncio.sleep(handler.sleep.seconds)
        return
    try:
        if handler.exec is not None:
            code, output = await run_in_container(runtime, place.pod, container.name, handler.exec.command)
            if code != 0:
                raise HookFailed(f"command {handler.exec.command} exited with {code}: {output!r}")
        elif handler.http_get is not None:
            # Any response is a success, whatever its status code.
            pod_ip = next(iter(place.addresses or place.host_ips))
            await send(http_get_of(handler.http_get, container, pod_ip, "lifecycle"))
        else:
            raise HookFailed("invalid handler")
    except (HttpFailed, LookupError, Unsupported, OSError, ValueError) as error:
        raise HookFailed(str(error)) from error
