"""The strategies of the built-in resources, one folder per API group."""

from sampan.registry.strategies import (
    admissionregistration,
    apiregistration,
    apps,
    autoscaling,
    batch,
    certificates,
    coordination,
    discovery,
    flowcontrol,
    networking,
    node,
    policy,
    rbac,
    resource,
    scheduling,
    storage,
)
from sampan.registry.strategies.core import EVENTS_STRATEGY
from sampan.registry.strategies.core import STRATEGIES as CORE_STRATEGIES
from sampan.registry.strategy import Strategy

__all__ = ["builtin_strategies"]

_GROUPS = (
    admissionregistration,
    apiregistration,
    apps,
    autoscaling,
    batch,
    certificates,
    coordination,
    discovery,
    flowcontrol,
    networking,
    node,
    policy,
    rbac,
    resource,
    scheduling,
    storage,
)


def builtin_strategies() -> dict[tuple[str, str], Strategy]:
    """The strategy of every built-in resource that has one of its own, by group and resource."""
    return {
        **{("", resource): strategy for resource, strategy in CORE_STRATEGIES.items()},
        ("events.k8s.io", "events"): EVENTS_STRATEGY,
        **{key: strategy for group in _GROUPS for key, strategy in group.STRATEGIES.items()},
    }
