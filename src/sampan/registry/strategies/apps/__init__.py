"""Strategies of apps."""

from sampan.registry.strategies.apps.controllerrevision import ControllerRevisionStrategy
from sampan.registry.strategies.apps.daemonset import DaemonSetStrategy
from sampan.registry.strategies.apps.deployment import DeploymentStrategy
from sampan.registry.strategies.apps.replicaset import ReplicaSetStrategy
from sampan.registry.strategies.apps.statefulset import StatefulSetStrategy
from sampan.registry.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {
    ("apps", "deployments"): DeploymentStrategy(),
    ("apps", "replicasets"): ReplicaSetStrategy(),
    ("apps", "statefulsets"): StatefulSetStrategy(),
    ("apps", "daemonsets"): DaemonSetStrategy(),
    ("apps", "controllerrevisions"): ControllerRevisionStrategy(),
}
