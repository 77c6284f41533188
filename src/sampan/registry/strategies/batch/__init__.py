"""Strategies of batch."""

from sampan.registry.strategies.batch.cronjob import CronJobStrategy
from sampan.registry.strategies.batch.job import JobStrategy
from sampan.registry.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {
    ("batch", "jobs"): JobStrategy(),
    ("batch", "cronjobs"): CronJobStrategy(),
}
