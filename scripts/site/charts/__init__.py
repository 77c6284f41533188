"""Charts of the benchmarks' results as SVG, drawn when the site is built.

charts()        # file name -> SVG
"""

from typing import Final

from benchmarks.scenarios import BY_NAME
from scripts.site.charts.bars import memory, pod_start
from scripts.site.charts.courses import Measure, courses
from scripts.site.charts.results import SERVER, TESTING
from scripts.site.charts.throughput import throughput

__all__ = ["charts"]

_OVER_TIME: Final = ("get", "create", "apply", "pods")
_GOAL: Final = "goal"
_FIXTURES: Final = (
    Measure("start", "Start of a cluster", "ms", 10, _GOAL),
    Measure("first", "First cluster of a process", "ms", 400, _GOAL),
    Measure("fork", "Copy of a running cluster", "ms", 5, _GOAL),
    Measure("deployment", "Two Pods of a Deployment available", "ms", 50, _GOAL),
)


def charts() -> dict[str, str]:
    """Return all charts by their file names."""
    over_time = [
        Measure(name, BY_NAME[name].title[0].upper() + BY_NAME[name].title[1:], "per second", BY_NAME[name].reference,
                "kube-apiserver")
        for name in _OVER_TIME
    ]  # fmt: skip
    return {
        "throughput.svg": throughput(),
        "throughput-over-time.svg": courses(
            "throughput-over-time", "Requests per second, over the results", SERVER, over_time
        ),
        "memory.svg": memory(),
        "fixture-start.svg": courses(
            "fixture-start", "Start of a cluster in a test, over the results", TESTING, _FIXTURES
        ),
        "pod-start.svg": pod_start(),
    }
