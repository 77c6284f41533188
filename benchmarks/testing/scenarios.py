"""Measurements and their goals. Each measurement returns one number.

Measurements in this process count its processor time: it has one thread and never waits, so on an idle machine the time
is the same, and other processes do not change it.
"""

import asyncio
import gc
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.testing import campaign, container, draws
from sampan.testing import Cluster, ClusterOptions, run_virtual

_FIRST = """
import time
import sampan.testing.pytest_session, asyncio
from sampan.testing import Cluster
began = time.perf_counter()
async def main():
    async with Cluster() as cluster:
        await cluster.get("ns/default")
asyncio.run(main())
print(time.perf_counter() - began)
"""
_IMPORT = """
import time, pytest
began = time.perf_counter()
import sampan.pytest_plugin
print(time.perf_counter() - began)
"""
_CRON_JOB = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "hourly"},
    "spec": {
        "schedule": "0 * * * *",
        "jobTemplate": {
            "spec": {
                "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "main"}]}}
            }
        },
    },
}
_WEB = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web"}]},
        },
    },
}


@dataclass(frozen=True, slots=True)
class TestingScenario:
    """One measurement."""

    name: str
    title: str
    measure: Callable[[], float]
    goal: float
    unit: str

    __test__ = False


def plug_in_import() -> float:
    """Milliseconds to import the plug-in where pytest is loaded, the median of five processes."""
    return statistics.median(_in_process(_IMPORT) for _ in range(5)) * 1000


def first() -> float:
    """Milliseconds until the first cluster of a process responds, without the imports; the median of five processes."""
    return statistics.median(_in_process(_FIRST) for _ in range(5)) * 1000


def start() -> float:
    """Milliseconds to start a cluster, the median of 100."""
    return statistics.median(began for began, _ in run_virtual(_many(100))) * 1000


def end() -> float:
    """Milliseconds to end a cluster, the median of 100."""
    return statistics.median(ended for _, ended in run_virtual(_many(100))) * 1000


def leak() -> float:
    """Kilobytes that 500 clusters in sequence leave behind."""

    async def main() -> float:
        await _many(30)
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        await _many(500)
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)

    return run_virtual(main())


def idle_day() -> float:
    """Seconds for a virtual day in which nothing happens."""

    async def main() -> float:
        async with Cluster() as cluster:
            await cluster.settled()
            began = time.process_time()
            await cluster.advance(days=1)
            return time.process_time() - began

    return run_virtual(main())


def cron_day() -> float:
    """Seconds for a virtual day with an hourly CronJob, with all loops from Jobs to simulated nodes."""

    async def main() -> float:
        async with Cluster(ClusterOptions(loops="chain")) as cluster:
            await cluster.apply(_CRON_JOB)
            await cluster.settled()
            began = time.process_time()
            await cluster.advance(days=1)
            took = time.process_time() - began
            jobs = [each for each in cluster.journal.writes if each.key.startswith("/registry/jobs/")]
            assert sum(each.event.previous is None for each in jobs) == 24
            return took

    return run_virtual(main())


def deployment() -> float:
    """Milliseconds until a Deployment of two Pods is available, from its creation; the median of ten."""

    async def main() -> float:
        found = []
        for _ in range(10):
            async with Cluster(ClusterOptions(loops="chain")) as cluster:
                await cluster.settled()
                began = time.process_time()
                await cluster.apply(_WEB)
                await cluster.settled()
                found.append(time.process_time() - began)
                assert (await cluster.get("deploy/web"))["status"]["availableReplicas"] == 2
        return statistics.median(found) * 1000

    return run_virtual(main())


def fork() -> float:
    """Milliseconds to copy a running cluster, the median of 100."""

    async def main() -> float:
        async with Cluster() as cluster:
            found = []
            for _ in range(100):
                began = time.process_time()
                await cluster.fork()
                found.append(time.process_time() - began)
            return statistics.median(found) * 1000

    return run_virtual(main())


async def _many(count: int) -> list[tuple[float, float]]:
    """Start and end clusters; return both durations of each."""
    found = []
    for _ in range(count):
        cluster = Cluster()
        began = time.process_time()
        await cluster.server()
        started = time.process_time()
        await cluster.aclose()
        found.append((started - began, time.process_time() - started))
        await asyncio.sleep(0)
    return found


def _in_process(code: str) -> float:
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


SCENARIOS = (
    TestingScenario("import", "import of the plug-in where it is not used", plug_in_import, 5, " ms"),
    TestingScenario("container", "processor time of one test in a fresh container", container.measure, 1.5, " s"),
    TestingScenario("first", "first cluster of a process, after imports", first, 400, " ms"),
    TestingScenario("start", "start of a cluster", start, 10, " ms"),
    TestingScenario("end", "end of a cluster", end, 2, " ms"),
    TestingScenario("leak", "memory that 500 clusters leave behind", leak, 1024, " kB"),
    TestingScenario("fork", "copy of a running cluster", fork, 5, " ms"),
    TestingScenario("deployment", "a Deployment of two Pods available, chain of loops", deployment, 50, " ms"),
    TestingScenario("idle-day", "virtual day in which nothing happens", idle_day, 0.2, " s"),
    TestingScenario("campaign", "campaign over 45 fields, three values each", campaign.measure, 60, " s"),
    TestingScenario("cron-day", "virtual day of an hourly CronJob, chain of loops", cron_day, 0.5, " s"),
    *(
        TestingScenario(f"draw-{name}", f"generated object: {name}", draws.measurement(name), 1000, " µs")
        for name in draws.NAMES
    ),
)
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
