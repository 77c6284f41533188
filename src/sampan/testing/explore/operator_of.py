"""Parts of a scenario's operator: its external system, and the options of its manager."""

from typing import Any

from sampan.operator.leader_election import LeaderElectionConfig
from sampan.operator.manager import ManagerOptions
from sampan.testing.explore.scenario import Scenario
from sampan.testing.explore.trial_points import OPERATOR


def with_system(operator: Any, system: tuple[Any, ...]) -> Any:
    """Return the operator with the external system as its last argument."""
    return (lambda manager: operator(manager, *system)) if system else operator


def state_of(system: Any) -> Any:
    """Return the state of an external system at the end of a run."""
    state = getattr(system, "state", None)
    if callable(state):
        return state()
    return {name: value for name, value in vars(system).items() if not name.startswith("_")}


def options_of(scenario: Scenario) -> ManagerOptions:
    """Return the options of the operator's manager."""
    if not scenario.lease:
        return ManagerOptions(graceful_shutdown_timeout_s=1.0, informer_settings=scenario.informers)
    election = LeaderElectionConfig(scenario.lease, "default", OPERATOR)
    return ManagerOptions(
        graceful_shutdown_timeout_s=1.0, leader_election=election, informer_settings=scenario.informers
    )
