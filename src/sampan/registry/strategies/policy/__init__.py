"""Strategies of policy."""

from sampan.registry.strategies.policy.poddisruptionbudget import PodDisruptionBudgetStrategy
from sampan.registry.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {("policy", "poddisruptionbudgets"): PodDisruptionBudgetStrategy()}
