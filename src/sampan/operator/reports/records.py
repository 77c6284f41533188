"""Attempts of reconciles as JSON."""

from collections.abc import Callable
from typing import Any

from sampan.operator.history.object_write import ObjectWrite
from sampan.operator.history.reconcile_attempt import ReconcileAttempt
from sampan.operator.queue import Cause


def attempt_as_json(record: ReconcileAttempt, time_text: Callable[[float], str]) -> dict[str, Any]:
    """Return a reconcile for a report. `time_text` formats a time of the loop's clock."""
    return {
        "id": record.reconcile_id,
        "started": time_text(record.started),
        "seconds": round(record.duration_s, 6),
        "waitedSeconds": round(max(0.0, record.waited_s), 6),
        "result": record.result,
        "error": record.error,
        "attempt": record.attempt,
        "nextSeconds": record.next_s,
        "causes": [_cause(cause) for cause in record.causes.listed],
        "moreCauses": record.causes.more,
        "traceID": record.trace_id,
        "writes": [_write(write) for write in record.writes],
        "moreWrites": record.more_writes,
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "event": cause.event,
        "resource": cause.origin.resource,
        "object": cause.key,
        "resourceVersion": cause.resource_version,
        "handler": cause.origin.handler,
        "predicates": list(cause.origin.predicates),
    }


def _write(write: ObjectWrite) -> dict[str, Any]:
    return {
        "verb": write.verb,
        "resource": write.resource,
        "subresource": write.subresource,
        "object": write.key,
        "resourceVersion": write.resource_version,
    }
