"""The pure functions of the pages of the server, in Chromium, from the sources: metrics, fairness, leases, schemas."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from sampan.server.instruments.histogram import Histogram
from tests.dashboard.browser import Browser
from tests.dashboard.modules import call, modules_page

MODULES = {
    "exposition": "server/exposition.js",
    "measures": "server/measures.js",
    "plot": "server/plot.js",
    "units": "server/units.js",
    "fairness": "server/fairness.js",
    "leases": "server/leases.js",
    "waterfall": "edit/waterfall.js",
    "constraints": "explorer/constraints.js",
    "schema": "schema/schema.js",
    "who_can": "rights/who_can.js",
}
LEVELS = """PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, \
DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests
catch-all,         0,            true,   false,       0,               0,                 0,                  0,  0, 0
workload-low,      2,            false,  false,       7,               3,                 90,                 4,  1, 2
"""
REQUESTS = """PriorityLevelName, FlowSchemaName, QueueIndex, RequestIndexInQueue, FlowDistingsher, ArriveTime, \
InitialSeats, FinalSeats, AdditionalLatency, StartTime, UserName, Verb, APIPath, Namespace, Name, APIVersion, \
Resource, SubResource
exempt, exempt, -1, -1, , 2026-01-02T03:04:05Z, 1, 0, 0s, 2026-01-02T03:04:05Z, admin, get, /api/v1/pods, , , v1, pods,
low, all, 3, 0, a, 2026-01-02T03:04:04Z, 1, 0, 0s, 0001-01-01T00:00:00Z, CN=a, O=b, list, /api/v1/nodes, , , v1, nodes,
"""


@pytest.fixture(scope="module")
def page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Return an empty page with the modules in `page_modules`."""
    with modules_page(chromium, tmp_path_factory.mktemp("server"), MODULES) as opened:
        yield opened


def parsed(page: Page, text: str) -> Any:
    """Return the samples of metrics by name."""
    script = "(text) => Object.fromEntries(page_modules.exposition.metricsOf(text, () => true))"
    return page.evaluate(script, text)


def test_metrics_are_read_with_escaped_labels_and_large_values(page: Page) -> None:
    text = '# TYPE a counter\na{path="C:\\\\x",note="a \\"b\\"\\nc"} 1.5e+06 1700000000\nb +Inf\nnot a line\n'
    assert parsed(page, text) == {
        "a": [{"labels": {"path": "C:\\x", "note": 'a "b"\nc'}, "value": 1_500_000}],
        "b": [{"labels": {}, "value": float("inf")}],
    }


def test_the_page_reads_what_the_server_exposes(page: Page) -> None:
    histogram = Histogram("waits_seconds", "Waits.", ("queue",), (0.1, 1.0))
    histogram.observe(('slow, "quoted"',), 0.5)
    (family,) = histogram.collect()
    from_server = {(each.name, *sorted(each.labels.items())): each.value for each in family.samples}
    lines = [f"{each.name}{{{labels_text(each.labels)}}} {each.value}" for each in family.samples]
    found = parsed(page, "\n".join(lines))
    assert {
        (name, *sorted(sample["labels"].items())): sample["value"]
        for name, samples in found.items()
        for sample in samples
    } == from_server


def labels_text(labels: dict[str, str]) -> str:
    """Return labels as in the text format."""
    return ",".join(
        '{}="{}"'.format(name, value.replace("\\", "\\\\").replace('"', '\\"')) for name, value in labels.items()
    )


@pytest.mark.parametrize(
    ("counts", "q", "expected"),
    [
        ([(1.0, 10), (2.0, 10)], 0.5, 0.5),
        ([(1.0, 5), (2.0, 10)], 0.75, 1.5),
        ([(1.0, 5), (float("inf"), 10)], 0.99, 1.0),
        ([(1.0, 0), (float("inf"), 0)], 0.5, None),
    ],
    ids=["first bucket", "second bucket", "above all bounds", "nothing observed"],
)
def test_a_quantile_is_estimated_as_in_prometheus(
    page: Page, counts: list[tuple[float, int]], q: float, expected: float | None
) -> None:
    buckets = [{"bound": bound, "count": count} for bound, count in counts]
    script = """([buckets, q]) => {
      const found = page_modules.measures.quantile(buckets, q);
      return isNaN(found) ? null : found;
    }"""
    assert page.evaluate(script, [buckets, q]) == expected


def test_rates_count_a_restart_as_no_request(page: Page) -> None:
    script = """() => {
      const metrics = (value) => new Map([["apiserver_request_total", [{ labels: { verb: "GET" }, value }]]]);
      const reading = (at, value) => ({ at, metrics: metrics(value) });
      const { values } = page_modules.measures.CHARTS.find((chart) => chart.id === "verbs");
      return [values(reading(10, 60), reading(5, 10)).get("GET"), values(reading(10, 3), reading(5, 10)).get("GET")];
    }"""
    assert page.evaluate(script) == [10, 0]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0123, "seconds", "12 ms"),
        (2e-5, "seconds", "20 µs"),
        (3, "seconds", "3 s"),
        (1234.5, "rate", "1235/s"),
        (0.25, "rate", "0.25/s"),
        (12_345, "count", "12k"),
        (85_983_232, "bytes", "82 MiB"),
        (None, "count", "–"),
    ],
)
def test_values_of_charts_are_short(page: Page, value: float | None, unit: str, text: str) -> None:
    assert call(page, "units.valueText", value, unit) == text


@pytest.mark.parametrize(
    ("largest", "ticks"),
    [(0, [0, 0.5, 1]), (3, [0, 1, 2, 3]), (7.1, [0, 2.5, 5, 7.5]), (0.09, [0, 0.05, 0.1]), (69, [0, 25, 50, 75])],
)
def test_the_axis_has_round_values_up_to_the_largest(page: Page, largest: float, ticks: list[float]) -> None:
    assert call(page, "plot.ticksUpTo", largest, 3) == pytest.approx(ticks)


def test_a_line_has_a_gap_where_there_is_no_value(page: Page) -> None:
    path = call(page, "plot.linePath", [10, 15, 20, 25], [0, 4, None, 2], 4, 300, 100)
    assert path == "M0 100h0L100 0M300 50h0"


def test_the_level_with_waiting_requests_comes_first(page: Page) -> None:
    levels = call(page, "fairness.levelsOf", LEVELS)
    assert [(each["name"], each["waiting"], each["rejected"], each["cancelled"]) for each in levels] == [
        ("workload-low", 7, 4, 2),
        ("catch-all", 0, 0, 0),
    ]


def test_a_user_with_a_comma_in_the_name_is_shown_whole(page: Page) -> None:
    requests = call(page, "fairness.requestsOf", REQUESTS)
    assert [(each["user"], each["verb"], each["path"], each["waits"]) for each in requests] == [
        ("CN=a,O=b", "list", "/api/v1/nodes", True),
        ("admin", "get", "/api/v1/pods", False),
    ]


def test_a_lease_that_is_not_renewed_is_expired(page: Page) -> None:
    def lease(name: str, renewed: str, namespace: str = "kube-system", **labels: str) -> dict[str, Any]:
        spec = {"holderIdentity": f"{name}_1", "leaseDurationSeconds": 15, "renewTime": renewed}
        return {"metadata": {"name": name, "namespace": namespace, "labels": labels}, "spec": spec}

    identity = {"apiserver.kubernetes.io/identity": "kube-apiserver"}
    leases = [
        lease("a-gone", "2026-01-01T00:00:00Z"),
        lease("manager", "2026-01-01T00:01:00Z"),
        lease("node-1", "2026-01-01T00:01:00Z", "kube-node-lease"),
        lease("server", "2026-01-01T00:01:00Z", **identity),
    ]
    now = page.evaluate("Date.parse('2026-01-01T00:01:10Z')")
    held = call(page, "leases.heldLeases", leases, now)
    assert [(each["name"], each["expired"], each["server"]) for each in held] == [
        ("manager", False, False),
        ("server", False, True),
        ("a-gone", True, False),
    ]


def test_flags_are_read_from_flagz(page: Page) -> None:
    found = page.evaluate(
        "Object.fromEntries(page_modules.leases.flagsOf('\\nx flagz\\nWarning: a.\\n\\nstorage=sqlite\\ndata=\\n'))"
    )
    assert found == {"storage": "sqlite", "data": ""}


def test_a_slow_webhook_is_the_wide_bar(page: Page) -> None:
    steps = [
        {"name": "read", "tookMicroseconds": 10},
        {"name": "mutating admission", "detail": "MutatingAdmissionWebhook", "tookMicroseconds": 900},
        {"name": "store", "detail": "dry run", "tookMicroseconds": 90},
    ]
    assert call(page, "waterfall.barsOf", steps) == [
        {"title": "read", "from": 0, "took": 10},
        {"title": "mutating admission: MutatingAdmissionWebhook", "from": 10, "took": 900},
        {"title": "store", "from": 910, "took": 90},
    ]


FIELD = {
    "type": "array",
    "items": {"type": "string", "enum": ["a", ""]},
    "minItems": 1,
    "x-kubernetes-list-type": "set",
    "x-kubernetes-validations": [{"rule": "size(self) < 3", "message": "too many"}],
    "default": ["a"],
}


def test_limits_values_and_rules_of_a_field_are_listed(page: Page) -> None:
    schema = {"node": FIELD, "components": {}, "own": ""}
    assert call(page, "constraints.limitsOf", schema) == ["minItems: 1", "list-type: set"]
    assert call(page, "constraints.valuesOf", schema) == ["a", '""']
    assert call(page, "constraints.rulesOf", schema) == [{"rule": "size(self) < 3", "message": "too many"}]
    assert call(page, "constraints.defaultOf", schema) == '["a"]'


def test_a_search_finds_fields_of_lists_and_ends_in_a_schema_that_contains_itself(page: Page) -> None:
    props = {
        "type": "object",
        "properties": {"properties": {"additionalProperties": {"$ref": "#/components/schemas/P"}}},
    }
    spec = {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"replicas": {"type": "integer"}, "deep": {"$ref": "#/components/schemas/P"}},
        },
    }
    schema = {"node": {"properties": {"spec": spec}}, "components": {"P": props}, "own": ""}
    script = (
        """([schema, text]) => page_modules.constraints.search(schema, text, page_modules.schema.childSchema, 50)"""
    )
    assert page.evaluate(script, [schema, "replicas"]) == [["spec", "replicas"]]
    assert page.evaluate(script, [schema, "absent"]) == []
