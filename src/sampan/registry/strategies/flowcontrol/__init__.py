"""Strategies of flowcontrol.apiserver.k8s.io."""

from sampan.registry.strategies.flowcontrol.flowschema import FlowSchemaStrategy
from sampan.registry.strategies.flowcontrol.prioritylevel import PriorityLevelConfigurationStrategy
from sampan.registry.strategy import Strategy

_GROUP = "flowcontrol.apiserver.k8s.io"

STRATEGIES: dict[tuple[str, str], Strategy] = {
    (_GROUP, "flowschemas"): FlowSchemaStrategy(),
    (_GROUP, "prioritylevelconfigurations"): PriorityLevelConfigurationStrategy(),
}
