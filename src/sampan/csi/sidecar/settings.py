"""`SidecarSettings`: options of the programs that call a CSI driver for claims and snapshots.

A setting that external-provisioner also has, has the same name and meaning.
"""

from dataclasses import dataclass
from pathlib import Path

from sampan.core.settings import setting
from sampan.core.settings.kinds import FILE, POSITIVE_DURATION, integer


@dataclass(frozen=True, slots=True)
class SidecarSettings:
    """Settings of the sidecars of one driver."""

    driver_socket: Path = setting(Path("/run/csi/socket"), "Socket of the driver's service Controller.", kind=FILE)
    timeout_s: float = setting(15.0, "Limit of a call of the driver.", name="timeout", kind=POSITIVE_DURATION)
    retry_interval_start_s: float = setting(
        1.0,
        "Time until a failed call is repeated. It doubles with each failure.",
        name="retry-interval-start",
        kind=POSITIVE_DURATION,
    )
    retry_interval_max_s: float = setting(
        300.0,
        "Longest time until a failed call is repeated.",
        name="retry-interval-max",
        kind=POSITIVE_DURATION,
    )
    worker_threads: int = setting(
        10, "Number of calls of each kind that run at once.", kind=integer(1, metavar="CALLS")
    )
    default_fstype: str = setting("", "File system of volumes whose class names none.", default="the driver's")
    extra_create_metadata: bool = setting(
        True, "Send the names of claim and volume to the driver as parameters of CreateVolume.", negative=True
    )
    extra_modify_metadata: bool = setting(
        False, "Send the names of claim and volume to the driver as parameters of ControllerModifyVolume."
    )
    strict_topology: bool = setting(False, "Offer the driver only the topology of the selected node.")
    immediate_topology: bool = setting(
        True, "Send the topology of all nodes if no node is selected and the class names none.", negative=True
    )
    enable_capacity: bool = setting(
        False, "Publish the driver's free storage as CSIStorageCapacity objects, for the scheduler."
    )
    capacity_poll_interval_s: float = setting(
        60.0, "Time until free storage is read again.", name="capacity-poll-interval", kind=POSITIVE_DURATION
    )
    capacity_for_immediate_binding: bool = setting(
        False, "Publish free storage also for classes with immediate binding, which the scheduler does not need."
    )
    capacity_namespace: str = setting("kube-system", "Namespace of the CSIStorageCapacity objects.")
    snapshot_controller: bool = setting(
        True, "Make contents for VolumeSnapshots. Turn it off if snapshot-controller runs.", negative=True
    )
