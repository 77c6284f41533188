"""Settings of the control loops next to a server. `sampan up` passes them to `sampan loops`, so both have them.

controllers: str = controllers_setting(group="Control loops and nodes")
"""

from functools import partial
from typing import Final

from sampan.core.settings import ValueKind, setting
from sampan.core.settings.kinds import BOOLEAN, HOST_AND_PORT, TEXT, integer, one_of

RUNTIMES: Final = ("simulated", "process", "cri")

controllers_setting = partial(
    setting,
    "*",
    "Controllers to run next to the server: names with commas between them, * for all, -NAME to omit one, '' for none.",
    kind=ValueKind("NAMES", TEXT.read),
)
scheduler_setting = partial(setting, True, "Run the scheduler next to the server.", negative=True)
nodes_setting = partial(
    setting,
    1,
    "Number of simulated nodes next to the server; of other nodes there is at most one.",
    kind=integer(0, 32768, metavar="NODES"),
)
node_runtime_setting = partial(
    setting,
    RUNTIMES[0],
    "simulated: Pods start and end as their annotations define. process: containers are processes of this machine, "
    "with the user of the server. cri: containers are those of a runtime such as containerd; needs root.",
    kind=one_of(*RUNTIMES),
)
dns_setting = partial(
    setting, False, "Run a DNS server for cluster.local next to the server, as Service kube-system/kube-dns."
)
dns_address_setting = partial(
    setting,
    "",
    "Address where that server listens.",
    kind=HOST_AND_PORT,
    default="port 53 of the address that this machine uses to connect to others",
)
service_proxy_setting = partial(
    setting, False, "Make Services reachable on this machine, as `sampan proxy` does. Needs root."
)

bundled_setting = partial(setting, None, kind=BOOLEAN, default="true with --node-runtime cri")
"""Option of a part that comes with nodes of containers. `bundled` returns its value."""
local_path_setting = partial(
    bundled_setting, "Create the default StorageClass local-path, whose volumes are directories of the nodes."
)

network_policy_setting = partial(
    bundled_setting, "Enforce NetworkPolicies on the node, with rules of nftables. Needs containers."
)


def bundled(value: bool | None, runtime: str) -> bool:
    """Return whether a bundled part is on: as chosen, else with nodes of containers."""
    return runtime == "cri" if value is None else value


def node_names(count: int) -> tuple[str, ...]:
    """Return the names of the nodes next to a server: `node-1`, `node-2` …"""
    return tuple(f"node-{number}" for number in range(1, count + 1))
