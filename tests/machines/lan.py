"""Machines on one local network: a bridge on the first machine, and a link from it to each of the others.

first 172.30.0.1, fd00:30::1 (lan0) --- second 172.30.0.2, fd00:30::2 (eth0)
                                    \\-- third 172.30.0.3, fd00:30::3 (eth0)
"""

import subprocess
from collections.abc import Iterator, Sequence
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

    def address(self, number: int, family: int = 4) -> str:
        """Return the address of a machine, counted from 0."""
        return f"172.30.0.{number + 1}" if family == 4 else f"fd00:30::{number + 1:x}"


@contextmanager
def lan(root: Path, names: Sequence[str], *, ipv6: bool = False) -> Iterator[Lan]:
    """Run machines on one network. All of it disappears at the end."""
    with ExitStack() as stack:
        found = Lan([stack.enter_context(machine(root / name, name)) for name in names])
        first = found.machines[0]
        first.run("ip", "link", "add", "lan0", "type", "bridge")
        for number, each in enumerate(found.machines):
            device = "eth0" if number else "lan0"
            if number:
                _link(first, each)
            each.run("ip", "address", "add", f"{found.address(number)}/24", "dev", device)
            if ipv6:
                each.run("ip", "address", "add", f"{found.address(number, 6)}/64", "dev", device, "nodad")
            each.run("ip", "link", "set", device, "up")
            each.run("ip", "route", "add", "default", "via", found.address(0) if number else ROUTER)
        yield found


def _link(first: Machine, other: Machine) -> None:
    """Join a machine to the bridge of the first one. `ip` must see the processes of this machine."""
    enter = ["nsenter", "-t", str(first.pid), "-n", "ip", "link"]
    for words in (
        ["add", other.name, "type", "veth", "peer", "name", "eth0", "netns", str(other.pid)],
        ["set", other.name, "master", "lan0", "up"],
        # With br_netfilter, the bridge itself sends a packet whose new destination (DNAT) is on the bridge. It drops it
        # if that is the port it came from: a node that reaches its own Pod through the first one's NodePort.
        ["set", other.name, "type", "bridge_slave", "hairpin", "on"],
    ):
        done = subprocess.run([*enter, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
