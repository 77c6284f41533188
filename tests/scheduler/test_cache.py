"""Tests of the cache of Nodes and Pods."""

from sampan.scheduler.cache.cache import ASSUMED_S, Cache
from sampan.scheduler.cache.change_log import ChangeLog
from tests.scheduler.objects import node, pod


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def requested(cache: Cache, name: str) -> int:
    return int(cache.nodes.requested[0, cache.nodes.rows[name]])


def test_an_assumed_pod_uses_its_node_until_it_is_removed() -> None:
    cache = Cache(Clock())
    cache.set_node(node("n"))
    cache.assume(pod("p", on="n", requests={"cpu": "1"}))
    assert requested(cache, "n") == 1000
    cache.forget("p")
    assert requested(cache, "n") == 0


def test_an_informer_event_confirms_an_assumed_pod() -> None:
    cache = Cache(Clock())
    cache.set_node(node("n"))
    cache.assume(pod("p", on="n"))
    assert not cache.confirm("p", "elsewhere")
    assert cache.confirm("p", "n")
    assert cache.forget("p") is None


def test_a_bound_pod_without_confirmation_expires() -> None:
    clock = Clock()
    cache = Cache(clock)
    cache.set_node(node("n"))
    cache.assume(pod("p", on="n"))
    clock.now = 2 * ASSUMED_S
    assert cache.expire() == []
    cache.finish_binding("p")
    clock.now += ASSUMED_S
    assert [each.name for each in cache.expire()] == ["p"]


def test_a_pod_can_be_added_before_its_node() -> None:
    cache = Cache(Clock())
    cache.set_pod(pod("p", on="n", requests={"cpu": "1"}))
    assert cache.nodes.row_of("n") is None
    cache.set_node(node("n"))
    assert requested(cache, "n") == 1000


def test_the_row_of_a_removed_node_is_reused() -> None:
    cache = Cache(Clock())
    cache.set_node(node("old"))
    row = cache.nodes.rows["old"]
    cache.remove_node("old")
    cache.set_node(node("new"))
    assert cache.nodes.rows == {"new": row}


def test_the_table_grows_with_the_number_of_nodes() -> None:
    cache = Cache(Clock())
    for number in range(200):
        cache.set_node(node(f"n{number}", cpu=str(number)))
    assert cache.nodes.count == 200
    assert int(cache.nodes.allocatable[0, cache.nodes.rows["n150"]]) == 150_000


def test_a_truncated_change_log_returns_none() -> None:
    log = ChangeLog()
    for row in range(10_000):
        log.add(row % 7)
    assert log.since(0) is None
    recent = log.since(log.position - 3)
    assert recent is not None
    assert recent.tolist() == [1, 2, 3]
