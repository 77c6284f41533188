"""A machine behind a NAT.

172.30.0.0/24 --- router 10.77.0.1 (NAT) --- far 10.77.0.2
"""

import subprocess
from typing import Final

from tests.machines import Machine

ADDRESS: Final = "10.77.0.2"
"""Address of the machine, which the machines before the router do not reach."""


def behind_nat(router: Machine, far: Machine) -> None:
    """Connect a machine to a router, which translates its address."""
    words = ["ip", "link", "add", "lan1", "type", "veth", "peer", "name", "eth0", "netns", str(far.pid)]
    done = subprocess.run(["nsenter", "-t", str(router.pid), "-n", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for each, address, device in ((router, "10.77.0.1", "lan1"), (far, ADDRESS, "eth0")):
        each.run("ip", "address", "add", f"{address}/24", "dev", device)
        each.run("ip", "link", "set", device, "up")
    far.run("ip", "route", "add", "default", "via", "10.77.0.1")
    router.run("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
    router.run(
        "nft", "table ip nat { chain out { type nat hook postrouting priority 100; oifname eth0 masquerade; }; }"
    )
