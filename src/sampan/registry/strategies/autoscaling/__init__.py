"""Strategies of autoscaling."""

from sampan.registry.strategies.autoscaling.hpa import HorizontalPodAutoscalerStrategy
from sampan.registry.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {
    ("autoscaling", "horizontalpodautoscalers"): HorizontalPodAutoscalerStrategy(),
}
