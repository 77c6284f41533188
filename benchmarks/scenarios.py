"""The scenarios: requests, their number, references and goals.

`reference` is the figure of kube-apiserver 1.36 with etcd on a machine with two cores; `goal` is ours.
"""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks import objects
from benchmarks.connection import Target, build_request

JSON = "application/json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

Build = Callable[[Target, int], bytes]
"""Returns the request with a number."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One kind of request, made many times."""

    name: str
    title: str
    build: Build | None
    reference: float = 0.0
    goal: float = 0.0
    timed: bool = False
    """True: the request is repeated for some seconds. False: it is sent once for each object."""
    one_request: bool = False
    """True if all requests are equal."""
    needs: str = ""
    """Name of the scenario that creates the objects."""
    unit: str = "/s"
    lower_is_better: bool = False


def _post(path: str, body: Callable[[int], bytes]) -> Build:
    return lambda target, number: build_request(target, "POST", path, body(number), content_type=JSON, accept=JSON)


def _read(path: str, accept: str = JSON) -> Build:
    return lambda target, number: build_request(target, "GET", path, accept=accept)


def _one(target: Target, number: int, method: str, body: bytes = b"", content_type: str = "", query: str = "") -> bytes:
    headers = {"accept": JSON} | ({"content_type": content_type} if content_type else {})
    return build_request(target, method, f"{objects.CONFIG_MAPS}/cm-{number:06}{query}", body, **headers)


def _get(target: Target, number: int) -> bytes:
    return _one(target, number, "GET")


def _put(target: Target, number: int) -> bytes:
    return _one(target, number, "PUT", objects.config_map(number, more="1"), JSON)


def _patch(target: Target, number: int) -> bytes:
    return _one(target, number, "PATCH", b'{"data":{"p":"1"}}', "application/merge-patch+json")


def _apply(target: Target, number: int) -> bytes:
    body, kind = objects.applied_config_map(number), "application/apply-patch+yaml"
    return _one(target, number, "PATCH", body, kind, "?fieldManager=bench&force=true")


def _delete(target: Target, number: int) -> bytes:
    return _one(target, number, "DELETE")


def fan_config_map(number: int) -> bytes:
    """Return a ConfigMap that the watchers of the fan-out select."""
    return objects.config_map(number, prefix="fan", app=FAN_OUT)


def steady_config_map(number: int) -> bytes:
    """Return a ConfigMap that the watchers at a steady rate select, and those of the fan-out do not."""
    return objects.config_map(STEADY_FIRST + number, prefix="fan", app=STEADY)


FULL_N = 5000
"""Number of objects for which goals and references are valid."""
CREATE = "create"
PODS = "pods"
CUSTOM_RESOURCES = "cr"
FAN_OUT = "watch"
STEADY = "steady"
STEADY_FIRST = 500_000
STEADY_RATE = 400
"""Creates a second: half of the maximum on the machine of the references with all these watchers."""
MEMORY = "memory"
START = "start"

_CMS = objects.CONFIG_MAPS
SCENARIOS: tuple[Scenario, ...] = (
    Scenario(CREATE, "create ConfigMap of 1 kB", _post(_CMS, objects.config_map), 2000, 3000),
    Scenario("get", "get", _get, 4300, 10_000, timed=True, needs=CREATE),
    Scenario("put", "put", _put, 1560, 2500, needs=CREATE),
    Scenario("patch", "merge patch", _patch, 1470, 2500, needs=CREATE),
    Scenario("apply", "server-side apply", _apply, 1390, 2000, needs=CREATE),
    Scenario("list", "list of all ConfigMaps", _read(_CMS), 30, 90, timed=True, one_request=True, needs=CREATE),
    Scenario("page", "page of 500", _read(f"{_CMS}?limit=500"), 254, 800, timed=True, one_request=True, needs=CREATE),
    Scenario(
        "table",
        "page of 500 as Table",
        _read(f"{_CMS}?limit=500", TABLE),
        274,
        500,
        timed=True,
        one_request=True,
        needs=CREATE,
    ),
    Scenario(PODS, "create Pod", _post(objects.PODS, objects.pod), 950, 2000),
    Scenario("podlist", "list of all Pods", _read(objects.PODS), 6.4, 60, timed=True, one_request=True, needs=PODS),
    Scenario(CUSTOM_RESOURCES, "create custom resource", _post(objects.NETWORKS, objects.network), 860, 2500),
    Scenario(FAN_OUT, "watch: events to all watchers", _post(_CMS, fan_config_map), 43_000, 100_000),
    Scenario(
        STEADY,
        f"watch at {STEADY_RATE} creates a second: p50",
        _post(_CMS, steady_config_map),
        goal=20,
        unit=" ms",
        lower_is_better=True,
    ),
    Scenario("delete", "delete", _delete, needs=CREATE),
    Scenario(MEMORY, "resident memory at the end", None, 1467, 350, unit=" MB", lower_is_better=True),
    Scenario(START, "start on a full store", None, 0, 1, unit=" s", lower_is_better=True),
)
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
FAN_OUT_P50_MS = {"reference": 225.0, "goal": 20.0}
