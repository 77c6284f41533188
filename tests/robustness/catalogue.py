"""All faults, and the selection of them that machines can have."""

from tests.robustness.disk_faults import DISK_FAULTS
from tests.robustness.faults import FAULTS
from tests.robustness.machines import Machines
from tests.robustness.partitions import PARTITIONS
from tests.robustness.scene import Fault
from tests.robustness.upkeep import UPKEEP

ALL: tuple[Fault, ...] = (*FAULTS, *UPKEEP, *PARTITIONS, *DISK_FAULTS)


def possible(machines: Machines) -> tuple[Fault, ...]:
    """Return the faults that a seed chooses from."""
    partitions = PARTITIONS if machines.network is not None else ()
    return (*FAULTS, *UPKEEP, *partitions, *(DISK_FAULTS if machines.disks else ()))
