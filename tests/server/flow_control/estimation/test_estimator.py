"""Estimation of seats."""

import pytest

from sampan.server.flow_control.estimation.estimator import EVENT_S, ObjectStats, WorkEstimator
from sampan.server.flow_control.estimation.watch_counts import WatchCounts
from sampan.server.flow_control.queues.ticket import ONE_SEAT, FlowStats, Work
from sampan.server.request import RequestInfo
from sampan.server.request_info import parse_target
from tests.server.requests import make_request

PODS = "/api/v1/namespaces/a/pods"


def info(method: str, target: str) -> RequestInfo:
    return parse_target(method, target.encode()).info


def estimate(
    method: str,
    target: str,
    *,
    stored: int = 0,
    watches: WatchCounts | None = None,
    most: int = 0,
    stats: FlowStats | None = None,
) -> Work:
    async def read_body(limit: int) -> bytes:
        return b""

    parsed = parse_target(method, target.encode())
    request = make_request(method, parsed.path, "", {}, read_body, parsed.query, parsed.info)
    estimator = WorkEstimator(lambda group, resource: ObjectStats(stored, 10_000), watches or WatchCounts())
    return estimator.estimate(request, most, stats or FlowStats())


@pytest.mark.parametrize(
    ("target", "stored", "most", "seats"),
    [
        (PODS, 0, 0, 1),
        (PODS, 10, 0, 1),
        (PODS, 45, 0, 5),
        (PODS, 100_000, 0, 10),
        (PODS, 100_000, 4, 4),
        (f"{PODS}?limit=20", 100_000, 0, 2),
        (f"{PODS}?limit=x", 45, 0, 5),
        (f"{PODS}?fieldSelector=metadata.name%3Dp", 100_000, 0, 1),
        (f"{PODS}/p", 100_000, 0, 1),
        (f"{PODS}?watch=1", 45, 0, 5),
        (f"{PODS}?watch=1&resourceVersion=7", 45, 0, 1),
        (f"{PODS}?watch=1&resourceVersion=7&sendInitialEvents=true", 45, 0, 5),
        ("/version", 45, 0, 1),
    ],
)
def test_reading(target: str, stored: int, most: int, seats: int) -> None:
    assert estimate("GET", target, stored=stored, most=most) == Work(seats)


def test_the_cost_of_a_write_grows_with_its_watches() -> None:
    watches = WatchCounts()
    for _ in range(15):
        watches.add(info("GET", "/api/v1/configmaps?watch=1"))
        watches.add(info("GET", "/api/v1/namespaces/a/configmaps?watch=1"))
        watches.add(info("GET", "/api/v1/namespaces/b/configmaps?watch=1"))
    target = "/api/v1/namespaces/a/configmaps"
    assert estimate("POST", target, watches=watches) == Work(1, 3, EVENT_S)
    assert estimate("POST", target, watches=watches, most=1) == Work(1, 1, 3 * EVENT_S)
    assert estimate("POST", "/api/v1/namespaces/a/secrets", watches=watches) == ONE_SEAT


def test_watches_that_have_ended_do_not_count() -> None:
    watches = WatchCounts()
    target = info("GET", "/api/v1/configmaps?watch=1")
    scopes = [watches.add(target) for _ in range(3)]
    for scope in scopes[1:]:
        assert scope is not None
        watches.forget(scope)
    assert watches.count(info("POST", "/api/v1/namespaces/a/configmaps")) == 1


def test_watches_of_the_pods_of_one_node_do_not_count() -> None:
    assert WatchCounts().add(info("GET", "/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dn")) is None


def test_watches_of_a_write_are_recorded() -> None:
    watches, stats = WatchCounts(), FlowStats()
    watches.add(info("GET", "/api/v1/configmaps?watch=1"))
    estimate("POST", "/api/v1/namespaces/a/configmaps", watches=watches, stats=stats)
    estimate("GET", "/api/v1/namespaces/a/configmaps", watches=watches, stats=stats)
    assert (stats.watch_counts.total, sum(stats.watch_counts.counts)) == (1, 1)
