"""`remove_node`: removes everything that a node with containers has created on its machine, except its directory.

It removes only Pods whose sandboxes have the annotation of the node's instance. Containers of other programs stay.
"""

import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.node.beneath import remove_tree
from sampan.node.cri.cgroups import ROOT as CGROUPS
from sampan.node.cri.client import CriClient
from sampan.node.cri.configuration.sandbox import INSTANCE, POD_NAME, POD_NAMESPACE, POD_UID
from sampan.node.cri.messages import AnyMessage
from sampan.node.cri.network.bridge import BRIDGE
from sampan.node.cri.network.pod_network import remove_network
from sampan.node.network_policy.enforcer import remove_rules
from sampan.node.programs import run

_log = logging.getLogger("sampan.node")
_KUBEPODS: Final = "kubepods"


@dataclass(frozen=True, slots=True)
class NodeTraces:
    """Locations of everything that a node creates on its machine."""

    endpoint: str
    """Socket of the runtime."""
    instance: str
    logs: Path
    cni_configurations: Path
    cgroup_root: str


async def remove_node(traces: NodeTraces) -> None:
    """Remove Pods, network and cgroups. Raises `CriError`, `OSError`."""
    async with CriClient(traces.endpoint) as client:
        await client.connect()
        for sandbox in await client.list_pod_sandboxes():
            if sandbox.annotations.get(INSTANCE) == traces.instance:
                await _remove_pod(client, sandbox, traces.logs)
    _remove_cgroups(traces.cgroup_root)
    await remove_rules()
    await remove_network(traces.cni_configurations)
    if BRIDGE in await run("ip", "-o", "link", "show", "type", "bridge"):
        await run("ip", "link", "del", BRIDGE)


async def _remove_pod(client: CriClient, sandbox: AnyMessage, logs: Path) -> None:
    await client.stop_pod_sandbox(sandbox.id)
    await client.remove_pod_sandbox(sandbox.id)
    name = "_".join(sandbox.labels.get(label, "") for label in (POD_NAMESPACE, POD_NAME, POD_UID))
    remove_tree(logs / name)
    _log.info("pod removed", extra={"pod": name})


def _remove_cgroups(root: str) -> None:
    """Remove the empty cgroups of Pods. The kernel keeps those that have processes."""
    name = f"{root.strip('/')}/{_KUBEPODS}".lstrip("/")
    for top in (CGROUPS / name, *CGROUPS.glob(f"*/{name}")):
        for directory, _, _ in os.walk(top, topdown=False):
            with suppress(OSError):
                os.rmdir(directory)
