"""Machines on one local network: a bridge on the first machine, and a link from it to each of the others.

first 172.30.0.1, fd00:30::1 (lan0) --- second 172.30.0.2, fd00:30::2 (eth0)
                                    \\-- third 172.30.0.3, fd00:30::3 (eth0)
"""

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.machines.machine import Machine, machine

ROUTER = "172.30.0.254"
"""Default route of the first machine, which no machine has: packets to other networks are lost."""


@dataclass(frozen=True)
class Lan:
    """Machines, each of which reaches the others."""

    machines: Sequence[Machine]
    has_ipv6: bool = False

    def address(self, number: int, family: int = 4) -> str:
        """Return the address of a machine, counted from 0."""
        return f"172.30.0.{number + 1}" if family == 4 else f"fd00:30::{number + 1:x}"

    def reboot(self, number: int) -> None:
        """Cut the power of a machine, start it again, and configure its network as before.

        The bridge is on the first machine. So its reboot cuts the links of all others, too.
        """
        self.machines[number].lose_power()
        self.machines[number].boot()
        self.connect([number] if number else range(len(self.machines)))

    def connect(self, numbers: Iterable[int]) -> None:
        """Link machines to the network, the first one before others."""
        first = self.machines[0]
        for number in numbers:
            each, device = self.machines[number], "eth0" if number else "lan0"
            if number:
                _link(first, each)
            else:
                first.run("ip", "link", "add", "lan0", "type", "bridge")
            each.run("ip", "address", "add", f"{self.address(number)}/24", "dev", device)
            if self.has_ipv6:
                each.run("ip", "address", "add", f"{self.address(number, 6)}/64", "dev", device, "nodad")
            each.run("ip", "link", "set", device, "up")
            each.run("ip", "route", "add", "default", "via", self.address(0) if number else ROUTER)


@contextmanager
def lan(root: Path, names: Sequence[str], *, ipv6: bool = False) -> Iterator[Lan]:
    """Run machines on one network. All of it disappears at the end."""
    with ExitStack() as stack:
        found = Lan([stack.enter_context(machine(root / name, name)) for name in names], ipv6)
        found.connect(range(len(names)))
        yield found


def _link(first: Machine, other: Machine) -> None:
    """Join a machine to the bridge of the first one. `ip` must see the processes of this machine."""
    enter = ["nsenter", "-t", str(first.pid), "-n", "ip", "link"]
    # The kernel may still have the link of a machine that has lost its power.
    subprocess.run([*enter, "delete", other.name], capture_output=True, check=False)
    for words in (
        ["add", other.name, "type", "veth", "peer", "name", "eth0", "netns", str(other.pid)],
        ["set", other.name, "master", "lan0", "up"],
        # With br_netfilter, the bridge itself sends a packet whose new destination (DNAT) is on the bridge. It drops it
        # if that is the port it came from: a node that reaches its own Pod through the first one's NodePort.
        ["set", other.name, "type", "bridge_slave", "hairpin", "on"],
    ):
        done = subprocess.run([*enter, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
