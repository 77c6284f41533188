"""How one knows of the other components of a control plane whether they work."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

CONTROLLER_MANAGER: Final = "controller-manager"
SCHEDULER: Final = "scheduler"
CONTROLLER_MANAGER_LEASE: Final = "kube-controller-manager"
SCHEDULER_LEASE: Final = "kube-scheduler"


@dataclass(frozen=True, slots=True)
class Component:
    """One that runs beside the server is asked; of one elsewhere its Leases tell."""

    leases: tuple[str, ...]
    """In kube-system, at least one: the component works while somebody holds one of them."""
    fault: Callable[[], str] | None = None
    """What is wrong with the one beside the server, nothing if it works; None: there is none, or it need not work."""


Components = Mapping[str, Component]
"""By the names that componentstatuses have."""

ELSEWHERE: Final[Components] = {
    CONTROLLER_MANAGER: Component((CONTROLLER_MANAGER_LEASE,)),
    SCHEDULER: Component((SCHEDULER_LEASE,)),
}
