"""Generated objects: the time that Hypothesis takes for one, with its own work and the validation of the server."""

import gc
import time
from collections.abc import Callable
from typing import Any, Final

from hypothesis import HealthCheck, given, settings
from tests.testing.generated.crds import CRDS

from benchmarks.report import report
from sampan.testing.generated import objects

NAMES: Final = (*CRDS, "Deployment", "Service", "ConfigMap", "CronJob", "Ingress", "Pod", "NetworkPolicy", "Role")
OBJECTS: Final = 500
_WARM_UP: Final = 50


def drawn(what: Any, count: int) -> tuple[float, list[dict[str, Any]]]:
    """Return the processor seconds of so many objects, and the objects."""
    found: list[dict[str, Any]] = []

    @settings(
        max_examples=count, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(objects(what))
    def collect(made: dict[str, Any]) -> None:
        found.append(made)

    gc.collect()
    began = time.process_time()
    collect()
    return time.process_time() - began, found


def measurement(name: str) -> Callable[[], float]:
    """Return the measurement of a CRD of the tests or of a built-in kind: microseconds for one object."""

    def measure() -> float:
        what = CRDS.get(name, name)
        drawn(what, _WARM_UP)
        took, found = drawn(what, OBJECTS)
        different = len(set(map(repr, found))) / len(found)
        report(f"{name}: {sum(map(leaves, found)) / len(found):.1f} values in an object, {different:.0%} are different")
        return took / len(found) * 1e6

    return measure


def leaves(value: Any) -> int:
    """Return the number of values below a value that have no values below them."""
    if isinstance(value, dict):
        return sum(leaves(each) for each in value.values())
    return sum(leaves(each) for each in value) if isinstance(value, list) else 1
