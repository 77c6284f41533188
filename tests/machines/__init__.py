"""Machines for nodes: namespaces of this machine, each with containerd, alone or on a shared network."""

from tests.machines.containerd import Containerd
from tests.machines.lan import Lan, lan
from tests.machines.machine import Machine, machine
from tests.machines.packages import missing
from tests.machines.waiting import wait_for

__all__ = ["Containerd", "Lan", "Machine", "lan", "machine", "missing", "wait_for"]
