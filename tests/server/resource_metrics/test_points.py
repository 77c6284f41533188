"""Points in the text of /metrics/resource."""

import pytest

from sampan.server.resource_metrics.points import NODE, POINTS_MAX, Point, PointKey, read_points

TEXT = b"""\
# HELP container_cpu_usage_seconds_total Cumulative cpu time consumed by the container in core-seconds
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{container="main",namespace="default",pod="web"} 1.5 1700000000500
container_memory_working_set_bytes{container="main",namespace="default",pod="web"} 4.096e+03 1700000000500
container_start_time_seconds{container="main",namespace="default",pod="web"} 1.7e+09
node_cpu_usage_seconds_total 20 1700000001000
node_memory_working_set_bytes 8192 1700000001000
pod_cpu_usage_seconds_total{namespace="default",pod="web"} 1.5 1700000000500
scrape_error 0
"""


def test_containers_and_the_node_have_points() -> None:
    assert read_points(TEXT, 5.0) == {
        PointKey("default", "web", "main"): Point(1700000000.5, 1.5, 4096, 1700000000.0),
        NODE: Point(1700000001.0, 20.0, 8192),
    }


def test_points_without_a_time_have_that_of_the_response() -> None:
    text = b"node_cpu_usage_seconds_total 20\nnode_memory_working_set_bytes 8192\r\n"
    assert read_points(text, 5.0) == {NODE: Point(5.0, 20.0, 8192)}


@pytest.mark.parametrize(
    "line",
    [
        b"node_cpu_usage_seconds_total NaN",
        b"node_cpu_usage_seconds_total +Inf",
        b"node_cpu_usage_seconds_total -1",
        b"node_cpu_usage_seconds_total 1e300",
        b"node_cpu_usage_seconds_total many",
        b"node_cpu_usage_seconds_total 1 99999999999999999999",
        b'node_cpu_usage_seconds_total{x="' + b"x" * 4000 + b'"} 1',
        b"",
    ],
    ids=["no number", "infinite", "negative", "huge", "text", "time", "long", "missing"],
)
def test_values_that_are_no_usage_are_left_out(line: bytes) -> None:
    assert read_points(line + b"\nnode_memory_working_set_bytes 8192\n", 5.0) == {}


@pytest.mark.parametrize("labels", [b'{pod="p"}', b"", b'{container="A B",namespace="n",pod="p"}'])
def test_containers_without_usable_names_are_left_out(labels: bytes) -> None:
    cpu, memory = b"container_cpu_usage_seconds_total", b"container_memory_working_set_bytes"
    assert read_points(b"%b%b 1\n%b%b 1\n" % (cpu, labels, memory, labels), 5.0) == {}


def test_a_node_cannot_report_any_number_of_containers() -> None:
    lines = (
        f'container_{metric}{{container="c{each}",namespace="n",pod="p"}} 1\n'
        for each in range(POINTS_MAX + 100)
        for metric in ("cpu_usage_seconds_total", "memory_working_set_bytes")
    )
    assert len(read_points("".join(lines).encode(), 5.0)) == POINTS_MAX
