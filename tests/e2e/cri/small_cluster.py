"""A cluster of several machines: a server, and nodes for containers that join it.

    server 172.30.0.1 --- one 172.30.0.2
                      \\-- two 172.30.0.3

`make cluster` runs one to try things out.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.cri import image
from tests.e2e.cri.processes import join, join_command, kubectl_on, up
from tests.e2e.kubectl import Kubectl
from tests.machines import Containerd, Lan, Machine, lan, wait_for

DUAL_STACK = (
    *("--cluster-cidr", "10.128.0.0/16,fd00:128::/48"),
    *("--service-cluster-ip-range", "10.96.0.0/16,fd00:96::/108"),
)


@dataclass
class SmallCluster:
    """Running cluster."""

    lan: Lan
    kubectl: Kubectl
    command: list[str]
    """Command with which machines join."""
    kubeconfig: Path
    containerds: list[Containerd] = field(default_factory=list)

    @property
    def server(self) -> Machine:
        """Machine of the server."""
        return self.lan.machines[0]

    @property
    def nodes(self) -> Sequence[Machine]:
        """Machines of the nodes."""
        return self.lan.machines[1:]

    def machine(self, name: str) -> Machine:
        """Return the machine of a node."""
        return next(each for each in self.nodes if each.name == name)

    def address(self, name: str) -> str:
        """Return the address of a node."""
        return self.lan.address(self.lan.machines.index(self.machine(name)))

    def start_agent(self, name: str) -> None:
        """Start the agent of a node."""
        join(self.machine(name), self.command)

    def kill_agent(self, name: str) -> None:
        """Kill the agent of a node. Its containers keep running."""
        machine = self.machine(name)
        for pid in machine.pids("-m", "sampan.cli", "join"):
            machine.run("kill", "-9", pid)

    def ready(self) -> bool:
        """Return True if all nodes are ready."""
        listed = self.kubectl.run("get", "nodes", "--no-headers").stdout.splitlines()
        return sum(" Ready " in line for line in listed) == len(self.nodes)


@contextmanager
def small_cluster(root: Path, names: Sequence[str], *more: str, dual_stack: bool = False) -> Iterator[SmallCluster]:
    """Run a cluster with these nodes, and wait until they are ready. All of it disappears at the end.

    `more`: further options of the server.
    """
    image.build(root / "images.tar")
    data = root / "data"
    with lan(root, ["server", *names], ipv6=dual_stack) as network:
        server, *nodes = network.machines
        authority = ["--kubelet-certificate-authority", str(data / "pki" / "ca.crt")]
        options = [
            "--nodes",
            "0",
            "--allocate-node-cidrs=true",
            "--dns",
            *authority,
            *(DUAL_STACK if dual_stack else ()),
            *more,
        ]
        up(server, network.address(0), *options, data=data)
        kubeconfig = data / "kubeconfig"
        found = SmallCluster(network, kubectl_on(server, kubeconfig), join_command(server, data), kubeconfig)
        for node in nodes:
            containerd = Containerd(node, image.PAUSE)
            containerd.start()
            containerd.load(root / "images.tar")
            found.containerds.append(containerd)
            found.start_agent(node.name)
        wait_for(found.ready, "the nodes", 60, state=found.kubectl.node_conditions)
        yield found
