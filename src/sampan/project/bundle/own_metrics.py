"""Metric families that an operator defines itself, and the parts of it that have metrics."""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, Metric

from sampan.project.bundle.loaded import LoadedOperator
from sampan.project.errors import ProjectError

_TOOLKIT: Final = (
    "asyncio_", "controller_runtime_", "informer_", "leader_election_", "process_", "python_", "reflector_",
    "rest_client_", "sampan_", "workqueue_",
)  # fmt: skip
"""Beginnings of the names that every operator has."""


@dataclass(frozen=True, slots=True)
class OwnMetric:
    """A family that the operator's code defines."""

    name: str
    kind: str
    """counter, gauge, histogram or summary."""
    text: str


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that decides which metrics an operator has."""

    webhooks: bool = False
    leader_election: bool = True
    own: tuple[OwnMetric, ...] = ()


def measured(operator: LoadedOperator) -> Measured:
    """Return the parts with metrics of an operator that was set up. Raises `ProjectError` if they cannot be read."""
    server, manager = operator.webhooks, operator.manager
    return Measured(
        webhooks=server is not None and not server.disabled,
        leader_election=manager.options.leader_election is not None,
        own=own_metrics(_collected(manager.registry)),
    )


def _collected(registry: CollectorRegistry) -> list[Metric]:
    """Return all families. Some collectors need an event loop, and the caller may have one that runs."""

    async def collect() -> list[Metric]:
        return list(registry.collect())

    with ThreadPoolExecutor(1) as threads:
        try:
            return threads.submit(asyncio.run, collect()).result()
        except Exception as error:
            raise ProjectError(f"a collector of metrics failed: {type(error).__name__}: {error}") from error


def own_metrics(families: Iterable[Metric]) -> tuple[OwnMetric, ...]:
    """Return the operator's own families in the order of their names. `families`: those of its registry."""
    found = {
        each.name: OwnMetric(each.name, each.type, each.documentation)
        for each in families
        if not each.name.startswith(_TOOLKIT) and each.type in ("counter", "gauge", "histogram", "summary")
    }
    return tuple(found[name] for name in sorted(found))
