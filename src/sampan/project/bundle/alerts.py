"""Alerts for Prometheus, from the metrics that an operator serves.

Every expression is limited to one operator by a selector, because all operators have the names of controller-runtime.
"""

from collections.abc import Mapping
from typing import Any, Final

from sampan.project.bundle.own_metrics import Measured
from sampan.wire.yaml import encode

_WITHIN: Final = "[10m]"
_CRITICAL: Final = "critical"
_WARNING: Final = "warning"


def job_selector(job: str, namespace: str = "") -> str:
    """Return the selector of an operator's metrics. With a ServiceMonitor, the job is the name of the Service."""
    return f'job="{job}"' + (f',namespace="{namespace}"' if namespace else "")


def alert_groups(name: str, selector: str, measured: Measured) -> list[dict[str, Any]]:
    """Return the groups of rules. `selector`: label matchers, without braces, that select the operator's metrics."""
    rules = [
        *_process(selector),
        *_reconciles(selector),
        *_queues(selector),
        *(_leadership(selector) if measured.leader_election else []),
    ]
    rules += _webhooks(selector) if measured.webhooks else []
    return [{"name": name, "rules": [_named(name, each) for each in rules]}]


def prometheus_rule(metadata: Mapping[str, Any], groups: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the object of the Prometheus operator."""
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": dict(metadata),
        "spec": {"groups": groups},
    }


def rules_file(name: str, measured: Measured) -> str:
    """Return a rules file for a Prometheus without its operator, whose scrape job has the name of the Service."""
    groups = alert_groups(name, job_selector(f"{name}-metrics"), measured)
    return encode({"groups": groups}).decode()


def _named(name: str, rule: dict[str, Any]) -> dict[str, Any]:
    annotations = {key: text.replace("OPERATOR", name) for key, text in rule["annotations"].items()}
    return {**rule, "labels": {**rule["labels"], "operator": name}, "annotations": annotations}


def _rule(alert: str, expression: str, pending: str, severity: str, summary: str, action: str) -> dict[str, Any]:
    return {
        "alert": alert,
        "expr": expression,
        "for": pending,
        "labels": {"severity": severity},
        "annotations": {"summary": summary, "description": action},
    }


def _share(part: str, whole: str, by: str) -> str:
    return f"sum by ({by}) (rate({part}{_WITHIN})) / sum by ({by}) (rate({whole}{_WITHIN}))"


def _quantile(family: str, selector: str, by: str) -> str:
    return f"histogram_quantile(0.99, sum by ({by}, le) (rate({family}_bucket{{{selector}}}{_WITHIN})))"


def _reconciles(selector: str) -> list[dict[str, Any]]:
    chosen = f"{{{selector}}}"
    total, errors = "controller_runtime_reconcile_total", "controller_runtime_reconcile_errors_total"
    return [
        _rule(
            "OperatorReconcileErrors",
            f"{_share(errors + chosen, total + chosen, 'controller')} > 0.1",
            "15m",
            _WARNING,
            "More than 10 % of the reconciles of {{ $labels.controller }} in OPERATOR fail",
            "Look at the log of the leader; /debug/failing of the metrics address lists the objects.",
        ),
        _rule(
            "OperatorObjectsFailing",
            f"max by (controller) (sampan_controller_failing_objects{chosen}) > 0",
            "30m",
            _WARNING,
            "{{ $value }} objects of {{ $labels.controller }} in OPERATOR fail since 30 minutes",
            "/debug/failing of the metrics address lists the objects with their errors.",
        ),
        _rule(
            "OperatorBug",
            f"sum by (controller) (increase(controller_runtime_reconcile_panics_total{chosen}[15m])) > 0",
            "0m",
            _WARNING,
            "A reconcile of {{ $labels.controller }} in OPERATOR raised an error that indicates a bug",
            "The log has the traceback.",
        ),
        _rule(
            "OperatorReconcileTimeouts",
            f"sum by (controller) (increase(controller_runtime_reconcile_timeouts_total{chosen}[15m])) > 0",
            "15m",
            _WARNING,
            "Reconciles of {{ $labels.controller }} in OPERATOR take too long and are cancelled",
            "Look at what the reconciler waits for.",
        ),
    ]


def _queues(selector: str) -> list[dict[str, Any]]:
    chosen = f"{{{selector}}}"
    return [
        _rule(
            "OperatorQueueSlow",
            f"{_quantile('workqueue_queue_duration_seconds', selector, 'controller')} > 60",
            "15m",
            _WARNING,
            "Changes wait for {{ $labels.controller }} in OPERATOR longer than a minute",
            "Allow more concurrent reconciles, or make a reconcile faster.",
        ),
        _rule(
            "OperatorReconcileStuck",
            f"max by (controller) (workqueue_longest_running_processor_seconds{chosen}) > 900",
            "5m",
            _WARNING,
            "A reconcile of {{ $labels.controller }} in OPERATOR runs since more than 15 minutes",
            "Set a timeout for the reconciles, and look at what it waits for.",
        ),
    ]


def _process(selector: str) -> list[dict[str, Any]]:
    chosen = f"{{{selector}}}"
    refused = f'rest_client_requests_total{{{selector},code=~"5..|429|<error>"}}'
    return [
        _rule(
            "OperatorDown",
            f"absent(process_start_time_seconds{chosen})",
            "10m",
            _CRITICAL,
            "No Pod of OPERATOR is scraped",
            "Look at the Pods of the Deployment and their events, and at the targets of Prometheus.",
        ),
        _rule(
            "OperatorCacheNotSynced",
            f"min by (resource) (informer_synced{chosen}) < 1",
            "10m",
            _WARNING,
            "OPERATOR cannot list {{ $labels.resource }}",
            "Check its role, and whether the CRD is installed.",
        ),
        _rule(
            "OperatorRequestErrors",
            f"{_share(refused, f'rest_client_requests_total{chosen}', 'host')} > 0.1",
            "15m",
            _WARNING,
            "More than 10 % of the requests of OPERATOR to {{ $labels.host }} fail",
            "Look at the health and the load of the API server.",
        ),
        _rule(
            "OperatorEventLoopBlocked",
            f"{_quantile('sampan_event_loop_delay_seconds', selector, 'pod')} > 1",
            "10m",
            _WARNING,
            "Code of OPERATOR blocks the event loop longer than a second",
            "The log names the code. Call it in a thread.",
        ),
    ]


def _leadership(selector: str) -> list[dict[str, Any]]:
    expression = f"max by (name) (leader_election_master_status{{{selector}}}) < 1"
    return [
        _rule(
            "OperatorWithoutLeader",
            expression,
            "5m",
            _CRITICAL,
            "No Pod of OPERATOR leads, so nothing is reconciled",
            "Look at the Lease {{ $labels.name }}, and at the role of the operator.",
        ),
    ]


def _webhooks(selector: str) -> list[dict[str, Any]]:
    total = "controller_runtime_webhook_requests_total"
    return [
        _rule(
            "OperatorWebhookErrors",
            f'{_share(f"""{total}{{{selector},code="500"}}""", f"{total}{{{selector}}}", "webhook")} > 0.05',
            "10m",
            _CRITICAL,
            "More than 5 % of the requests to the webhook {{ $labels.webhook }} of OPERATOR fail",
            "Users cannot write objects. The log has the traceback.",
        ),
        _rule(
            "OperatorWebhookSlow",
            f"{_quantile('controller_runtime_webhook_latency_seconds', selector, 'webhook')} > 5",
            "10m",
            _WARNING,
            "The webhook {{ $labels.webhook }} of OPERATOR takes longer than 5 seconds",
            "API servers wait for it. Look at what the webhook waits for.",
        ),
    ]
