"""Usage between two points."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from sampan.server.resource_metrics.history import History
from sampan.server.resource_metrics.points import NODE, Point, PointKey

MAIN = PointKey("default", "web", "main")
SIDE = PointKey("default", "web", "side")


def history(*scrapes: Mapping[PointKey, Point], node: str = "n1") -> History:
    """Return a history of these scrapes of one node, 15 seconds apart."""
    made = History(15.0)
    for points in scrapes:
        made.replace({node: points})
    return made


def cpu(made: History, node: str = "n1") -> dict[str, int] | None:
    """Return the thousandths of a core that each container of the Pod uses."""
    found = made.of_pod("default", "web", node)
    return None if found is None else {name: usage.cpu_nanocores // 10**6 for name, usage in found.items()}


def test_usage_is_the_difference_of_two_points() -> None:
    made = history({MAIN: Point(100.0, 10.0, 5, 1.0)}, {MAIN: Point(115.0, 13.0, 7, 1.0)})
    usages = made.of_pod("default", "web", "n1")
    assert usages is not None
    (usage,) = usages.values()
    assert (usage.cpu_nanocores, usage.memory_bytes, usage.window_s) == (200_000_000, 7, 15.0)
    assert usage.end.timestamp() == 115.0


def test_one_point_is_no_usage() -> None:
    made = history({MAIN: Point(100.0, 10.0, 5, 1.0), NODE: Point(100.0, 50.0, 5)})
    assert cpu(made) is None
    assert made.of_node("n1") is None
    assert made.nodes() == ["n1"]


def test_a_pod_has_no_usage_until_all_its_containers_have() -> None:
    first = {MAIN: Point(100.0, 10.0, 5, 1.0)}
    second = {MAIN: Point(115.0, 13.0, 5, 1.0), SIDE: Point(115.0, 0.1, 5, 110.0)}
    third = {MAIN: Point(130.0, 16.0, 5, 1.0), SIDE: Point(130.0, 1.6, 5, 110.0)}
    assert cpu(history(first, second)) is None
    assert cpu(history(first, second, third)) == {"main": 200, "side": 100}


def test_a_restarted_container_does_not_count_from_before_its_start() -> None:
    before = {MAIN: Point(100.0, 500.0, 5, 1.0)}
    after = {MAIN: Point(115.0, 600.0, 5, 110.0)}
    assert cpu(history(before, after)) is None
    assert cpu(history(before, after, {MAIN: Point(130.0, 601.5, 5, 110.0)})) == {"main": 100}


def test_a_counter_that_decreases_is_a_restart() -> None:
    made = history({NODE: Point(100.0, 500.0, 5)}, {NODE: Point(115.0, 3.0, 5)})
    assert made.of_node("n1") is None


def test_a_container_that_started_between_two_scrapes_counts_from_its_start() -> None:
    made = history({}, {MAIN: Point(115.0, 1.2, 5, 103.0)})
    assert cpu(made) == {"main": 100}


def test_a_point_that_is_repeated_keeps_the_usage() -> None:
    points = {MAIN: Point(100.0, 10.0, 5, 1.0)}, {MAIN: Point(115.0, 13.0, 5, 1.0)}
    assert cpu(history(*points, points[1])) == {"main": 200}


def test_nodes_that_do_not_respond_are_forgotten() -> None:
    made = history({MAIN: Point(100.0, 10.0, 5, 1.0)}, {MAIN: Point(115.0, 13.0, 5, 1.0)})
    made.replace({})
    assert (cpu(made), made.nodes(), made.pods("")) == (None, [], [])


def test_metrics_of_a_pod_from_another_node_are_ignored() -> None:
    made = history({MAIN: Point(100.0, 10.0, 5, 1.0)}, {MAIN: Point(115.0, 13.0, 5, 1.0)}, node="n2")
    assert cpu(made, "n1") is None


def test_a_node_that_reports_about_pods_of_another_does_not_hide_their_usage() -> None:
    made = History(15.0)
    for time_s, used_s in ((100.0, 10.0), (115.0, 13.0)):
        points = {MAIN: Point(time_s, used_s, 5, 1.0)}
        made.replace({"n1": points, "n2": {MAIN: Point(time_s, 10 * used_s, 5, 1.0), SIDE: Point(time_s, 1.0, 5)}})
    assert cpu(made, "n1") == {"main": 200}


NUMBERS = st.floats(0, 1e4, allow_nan=False)
POINTS = st.builds(Point, NUMBERS, NUMBERS, st.just(1), NUMBERS)


@given(st.lists(POINTS, max_size=6))
def test_usage_is_never_negative_and_windows_are_never_empty(points: list[Point]) -> None:
    made = history(*({MAIN: point} for point in points))
    for usage in (made.of_pod("default", "web", "n1") or {}).values():
        assert usage.cpu_nanocores >= 0
        assert usage.window_s > 0
