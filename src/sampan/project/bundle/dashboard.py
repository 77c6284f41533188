"""A dashboard for Grafana, from the metrics that an operator serves."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.project.bundle.own_metrics import Measured, OwnMetric

SELECTOR: Final = 'job=~"$job",namespace=~"$namespace"'
"""Matchers of every query. The value of `All` for the namespace also matches metrics without that label."""
_RATE: Final = "[$__rate_interval]"
_WIDTH: Final = 8
_HEIGHT: Final = 7
_PER_ROW: Final = 3
_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}


@dataclass(frozen=True, slots=True)
class Panel:
    """A graph with its queries: pairs of an expression and a legend."""

    title: str
    unit: str
    queries: tuple[tuple[str, str], ...]
    text: str = ""


def dashboard(name: str, measured: Measured) -> dict[str, Any]:
    """Return the dashboard of an operator."""
    panels: list[dict[str, Any]] = []
    top = 0
    for title, row in _rows(measured):
        panels.append(_row(title, top, len(panels) + 1))
        for index, panel in enumerate(row):
            below, beside = divmod(index, _PER_ROW)
            place = {"h": _HEIGHT, "w": _WIDTH, "x": beside * _WIDTH, "y": top + 1 + below * _HEIGHT}
            panels.append(_graph(panel, place, len(panels) + 1))
        top += 1 + -(-len(row) // _PER_ROW) * _HEIGHT
    return {
        "title": f"Operator {name}",
        "uid": f"sampan-{name}"[:40],
        "tags": ["operator", name],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": _variables(name)},
        "annotations": {"list": []},
        "panels": panels,
    }


def dashboard_text(name: str, measured: Measured) -> str:
    """Return the dashboard as the text of its file."""
    return json.dumps(dashboard(name, measured), indent=2, ensure_ascii=False) + "\n"


def _rows(measured: Measured) -> Iterator[tuple[str, Sequence[Panel]]]:
    yield "Reconciles", _RECONCILES
    yield "Queues", _QUEUES
    yield "API server and caches", _REQUESTS
    if measured.webhooks:
        yield "Webhooks", _WEBHOOKS
    yield "Process", [*_PROCESS, *(_LEADER if measured.leader_election else ())]
    if measured.own:
        yield "Metrics of this operator", [_own(each) for each in measured.own]


def _rate(family: str, by: str, more: str = "") -> str:
    return f"sum by ({by}) (rate({family}{{{SELECTOR}{more}}}{_RATE}))"


def _quantile(share: float, family: str, by: str) -> str:
    return f"histogram_quantile({share}, sum by ({by}, le) (rate({family}_bucket{{{SELECTOR}}}{_RATE})))"


def _worst(family: str, by: str) -> str:
    return f"max by ({by}) ({family}{{{SELECTOR}}})"


_C: Final = "controller_runtime"
_RECONCILES: Final = (
    Panel("Reconciles", "ops", ((_rate(f"{_C}_reconcile_total", "controller, result"), "{{controller}} {{result}}"),)),
    Panel("Errors", "ops", (
        (_rate(f"{_C}_reconcile_errors_total", "controller"), "{{controller}} errors"),
        (_rate(f"{_C}_terminal_reconcile_errors_total", "controller"), "{{controller}} terminal"),
        (_rate(f"{_C}_reconcile_panics_total", "controller"), "{{controller}} bugs"),
        (_rate(f"{_C}_reconcile_timeouts_total", "controller"), "{{controller}} timeouts"),
        (_rate("sampan_controller_event_errors_total", "controller"), "{{controller}} events"),
    )),
    Panel("Failing objects", "short", ((_worst("sampan_controller_failing_objects", "controller"), "{{controller}}"),),
          "/debug/failing of the metrics address lists them."),
    Panel("Duration of a reconcile", "s", (
        (_quantile(0.5, f"{_C}_reconcile_time_seconds", "controller"), "{{controller}} 50 %"),
        (_quantile(0.99, f"{_C}_reconcile_time_seconds", "controller"), "{{controller}} 99 %"),
    )),
    Panel("Workers", "short", (
        (f"sum by (controller) ({_C}_active_workers{{{SELECTOR}}})", "{{controller}} active"),
        (_worst(f"{_C}_max_concurrent_reconciles", "controller"), "{{controller}} limit"),
    )),
)  # fmt: skip
_QUEUES: Final = (
    Panel("Objects that wait", "short", ((f"sum by (controller) (workqueue_depth{{{SELECTOR}}})", "{{controller}}"),)),
    Panel("Time in the queue", "s", (
        (_quantile(0.5, "workqueue_queue_duration_seconds", "controller"), "{{controller}} 50 %"),
        (_quantile(0.99, "workqueue_queue_duration_seconds", "controller"), "{{controller}} 99 %"),
    )),
    Panel("Longest running reconcile", "s",
          ((_worst("workqueue_longest_running_processor_seconds", "controller"), "{{controller}}"),)),
    Panel("Additions and retries", "ops", (
        (_rate("workqueue_adds_total", "controller"), "{{controller}} added"),
        (_rate("workqueue_retries_total", "controller"), "{{controller}} retried"),
    )),
)  # fmt: skip
_REQUESTS: Final = (
    Panel("Requests", "reqps", ((_rate("rest_client_requests_total", "method, code"), "{{method}} {{code}}"),)),
    Panel("Duration of a request", "s",
          ((_quantile(0.99, "rest_client_request_duration_seconds", "verb"), "{{verb}} 99 %"),)),
    Panel("Cached objects", "short", ((_worst("informer_objects", "resource"), "{{resource}}"),)),
    Panel("Events that wait for handlers", "short", ((_worst("informer_pending", "resource"), "{{resource}}"),)),
)  # fmt: skip
_WEBHOOKS: Final = (
    Panel("Requests of API servers", "reqps",
          ((_rate(f"{_C}_webhook_requests_total", "webhook, code"), "{{webhook}} {{code}}"),)),
    Panel("Duration of a response", "s",
          ((_quantile(0.99, f"{_C}_webhook_latency_seconds", "webhook"), "{{webhook}} 99 %"),)),
    Panel("Requests in flight", "short",
          ((f"sum by (webhook) ({_C}_webhook_requests_in_flight{{{SELECTOR}}})", "{{webhook}}"),)),
)  # fmt: skip
_PROCESS: Final = (
    Panel("Memory", "bytes", ((_worst("process_resident_memory_bytes", "pod"), "{{pod}}"),)),
    Panel("Processor", "percentunit", ((_rate("process_cpu_seconds_total", "pod"), "{{pod}}"),)),
    Panel("Delay of the event loop", "s",
          ((_quantile(0.99, "sampan_event_loop_delay_seconds", "pod"), "{{pod}} 99 %"),),
          "Long delays mean that code blocks the event loop."),
    Panel("Age of the process", "s", ((f"time() - {_worst('process_start_time_seconds', 'pod')}", "{{pod}}"),)),
)  # fmt: skip
_LEADER: Final = (
    Panel("Leader", "short", ((_worst("leader_election_master_status", "pod, name"), "{{pod}} {{name}}"),)),
)


def _own(metric: OwnMetric) -> Panel:
    """Return the panel of a family that the operator's code defines."""
    if metric.kind == "counter":
        return Panel(f"{metric.name}_total", "ops", ((_rate(f"{metric.name}_total", "pod"), "{{pod}}"),), metric.text)
    if metric.kind == "gauge":
        return Panel(metric.name, "short", ((f"{metric.name}{{{SELECTOR}}}", "__auto"),), metric.text)
    mean = f"{_rate(f'{metric.name}_sum', 'pod')} / {_rate(f'{metric.name}_count', 'pod')}"
    queries = [(mean, "{{pod}} mean")]
    if metric.kind == "histogram":
        queries.append((_quantile(0.99, metric.name, "pod"), "{{pod}} 99 %"))
    unit = "s" if metric.name.endswith("_seconds") else "short"
    return Panel(metric.name, unit, tuple(queries), metric.text)


def _row(title: str, top: int, number: int) -> dict[str, Any]:
    place = {"h": 1, "w": _WIDTH * _PER_ROW, "x": 0, "y": top}
    return {"id": number, "type": "row", "title": title, "collapsed": False, "gridPos": place, "panels": []}


def _graph(panel: Panel, place: dict[str, int], number: int) -> dict[str, Any]:
    targets = [
        {"refId": chr(ord("A") + index), "datasource": _SOURCE, "expr": expression, "legendFormat": legend}
        for index, (expression, legend) in enumerate(panel.queries)
    ]
    return {
        "id": number,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.text,
        "datasource": _SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": targets,
    }


def _variables(name: str) -> list[dict[str, Any]]:
    family = f"{_C}_max_concurrent_reconciles"
    job = f"{name}-metrics"
    query: dict[str, Any] = {"type": "query", "datasource": _SOURCE, "refresh": 2, "sort": 1, "multi": True}
    return [
        {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
        {
            **query, "name": "job", "label": "Job", "query": f"label_values({family}, job)", "includeAll": False,
            "current": {"text": job, "value": job},
        },
        {
            **query, "name": "namespace", "label": "Namespace",
            "query": f'label_values({family}{{job=~"$job"}}, namespace)', "includeAll": True, "allValue": ".*",
            "current": {"text": "All", "value": "$__all"},
        },
    ]  # fmt: skip
