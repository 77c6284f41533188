"""Health of the other components of a control plane."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

CONTROLLER_MANAGER: Final = "controller-manager"
SCHEDULER: Final = "scheduler"
CONTROLLER_MANAGER_LEASE: Final = "kube-controller-manager"
SCHEDULER_LEASE: Final = "kube-scheduler"


@dataclass(frozen=True, slots=True)
class MonitoredComponent:
    """Component that runs in this server, or elsewhere with a Lease that shows its health."""

    leases: tuple[str, ...]
    """Leases in kube-system, at least one. The component is healthy while one of them is held."""
    fault: Callable[[], str] | None = None
    """Function that returns the fault of the component in this server, or an empty string. None if the component does
    not run in this server, or is allowed to be down.
    """


Components = Mapping[str, MonitoredComponent]
"""Components by their names in componentstatuses."""

ELSEWHERE: Final[Components] = {
    CONTROLLER_MANAGER: MonitoredComponent((CONTROLLER_MANAGER_LEASE,)),
    SCHEDULER: MonitoredComponent((SCHEDULER_LEASE,)),
}
