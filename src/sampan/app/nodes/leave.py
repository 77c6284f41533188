"""`leave`: removes a node from its machine, after its agent has ended."""

import asyncio
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sampan.app.controller_manager.join_settings import LeaveSettings
from sampan.app.errors import StartError
from sampan.core.extras import import_extra
from sampan.core.telemetry.log import configure_logging
from sampan.node.beneath import detach_all_below, mounts_below, remove_tree
from sampan.node.process.instance import INSTANCE_FILE, instance_of
from sampan.node.runtime_socket import NoRuntime, runtime_socket
from sampan.service_proxy.errors import ServiceProxyError
from sampan.service_proxy.kernel import Kernel


def leave(settings: LeaveSettings) -> None:
    """Remove containers, network, rules of Services and files of the node. Raises `StartError`."""
    configure_logging(settings.log.level, settings.log.format)
    root = settings.root
    if not (root / INSTANCE_FILE).exists():
        raise StartError(f"{root} is not the directory of a node; set --root")
    with _only_agent(root):
        if os.geteuid() == 0:
            _remove_containers(settings, instance_of(root))
            _remove_service_rules()
        detach_all_below(root)
        left = mounts_below(root)
        if left:
            raise StartError(f"cannot delete {root}: {left[0]} is mounted; unmount it, and run the command again")
        remove_tree(root)
        if root.exists():
            raise StartError(f"cannot delete all files of {root}: delete it, when no program uses it")


@contextmanager
def _only_agent(root: Path) -> Iterator[None]:
    """Hold the lock of the agent's directory, so that no agent starts. Raises `StartError` if one runs."""
    with (root / INSTANCE_FILE).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StartError(f"an agent uses the directory {root}: stop it first") from None
        yield


def _remove_containers(settings: LeaveSettings, instance: str) -> None:
    cri = settings.cri
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
    try:
        endpoint = runtime_socket(cri.container_runtime_endpoint)
    except NoRuntime as error:
        if cri.container_runtime_endpoint:
            raise StartError(str(error)) from error
        return  # A node of processes or a simulated one.
    module: Any = import_extra("sampan.node.cri.leave", extra="cri", feature="the runtime cri")
    errors: Any = import_extra("sampan.node.cri.errors", extra="cri", feature="the runtime cri")
    traces = module.NodeTraces(endpoint, instance, cri.pod_logs_dir, cri.cni_conf_dir, cri.cgroup_root)
    try:
        asyncio.run(module.remove_node(traces))
    except (errors.CriError, OSError) as error:
        raise StartError(f"cannot remove the containers of the node: {error}") from error


def _remove_service_rules() -> None:
    try:
        kernel = Kernel()
    except (ServiceProxyError, OSError):
        return  # Without nftables there are no rules.
    try:
        asyncio.run(kernel.clean_up())
    except ServiceProxyError as error:
        raise StartError(str(error)) from error
    finally:
        kernel.close()
