"""Machines for nodes: namespaces of this machine, each with containerd, alone or on a shared network."""

from tests.machines.containerd import Containerd
from tests.machines.lan import Lan, lan
from tests.machines.machine import Machine, machine
from tests.machines.packages import full_disk, missing, require_package, require_program
from tests.machines.waiting import wait_for

__all__ = [
    "Containerd",
    "Lan",
    "Machine",
    "full_disk",
    "lan",
    "machine",
    "missing",
    "require_package",
    "require_program",
    "wait_for",
]
