"""Measurements and their goals."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.load import Figure
from benchmarks.toolkit import authorization, chain, footprint, imports, informer, operator, scheduler

COUNT = 10_000
"""Number of objects for which the goals are valid."""


@dataclass(frozen=True, slots=True)
class ToolkitScenario:
    """Measurement of a repeated operation. `measure` gets the number of objects."""

    name: str
    title: str
    measure: Callable[[int], Figure]
    goal: float
    unit: str = "/s"
    lower_is_better: bool = False


SCENARIOS: tuple[ToolkitScenario, ...] = (
    ToolkitScenario("informer-list", "informer: Pods of a list", informer.measure_list, 20_000),
    ToolkitScenario("informer-stream", "informer: Pods of a streaming list", informer.measure_stream, 20_000),
    ToolkitScenario("informer-events", "informer: events, one handler", informer.measure_events, 20_000),
    ToolkitScenario("informer-memory", "informer: memory of a Pod", informer.measure_memory, 6, " kB", True),
    ToolkitScenario(
        "informer-stripped", "informer: memory of a Pod, some fields removed", informer.measure_stripped, 3, " kB", True
    ),
    ToolkitScenario("work-queue", "work queue: add, get and done", operator.measure_queue, 5, " µs", True),
    ToolkitScenario("import", "import of sampan.client", imports.measure_import, 150, " ms", True),
    ToolkitScenario("reconcile", "operator: networks reconciled", operator.measure_reconcile, 500),
    ToolkitScenario("operator-memory", "operator of 5,000 objects: memory", footprint.measure_memory, 50, " MB", True),
    ToolkitScenario("operator-cpu", "operator: processor time of 10,000 writes", footprint.measure_cpu, 8, " s", True),
    ToolkitScenario("chain-created", "chain: Pods of a Deployment created", chain.measure_created, 600),
    ToolkitScenario("chain-bound", "chain: the same, bound", chain.measure_bound, 400),
    ToolkitScenario("chain-ready", "chain: the same, ready on simulated nodes", chain.measure_ready, 300),
    ToolkitScenario("schedule", "scheduler alone: Pods, 1,000 nodes", scheduler.measure_plain, 2000),
    ToolkitScenario("schedule-5000", "scheduler alone: Pods, 5,000 nodes", scheduler.measure_many_nodes, 1500),
    ToolkitScenario("schedule-replicas", "scheduler alone: replicas, 5,000 nodes", scheduler.measure_replicas, 1000),
    ToolkitScenario("bind", "scheduler: Pods bound, 1,000 nodes", scheduler.measure_bound, 600),
    ToolkitScenario("bind-5000", "scheduler: Pods bound, 5,000 nodes", scheduler.measure_bound_many_nodes, 500),
    ToolkitScenario("rbac", "RBAC: a known kind of request", authorization.measure_known, 15, " µs", True),
    ToolkitScenario("rbac-new", "RBAC: a new kind of request", authorization.measure_new, 15, " µs", True),
    ToolkitScenario("rbac-changed", "RBAC: the first after a change", authorization.measure_changed, 15, " µs", True),
)
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
