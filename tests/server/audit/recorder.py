"""A backend that keeps what it is given, and an audit that ends there."""

import json
from collections.abc import Sequence
from typing import Any

import orjson

from sampan.server.audit.audit import Audit
from sampan.server.audit.evaluator import PolicyEvaluator
from sampan.server.audit.event import AuditEvent
from sampan.server.audit.metrics import AuditMetrics
from sampan.server.audit.policy import parse_policy


class Recorder:
    """Backend that stores events. With `failing`, `process` returns False."""

    name = "recorder"

    def __init__(self, *, failing: bool = False) -> None:
        self.events: list[Any] = []
        self.batches: list[list[AuditEvent]] = []
        self.failing = failing

    async def process(self, events: Sequence[AuditEvent]) -> bool:
        """Keep them, decoded."""
        self.batches.append(list(events))
        self.events += [orjson.loads(event.document()) for event in events]
        return not self.failing

    async def run(self) -> None:
        """There is nothing to do."""

    def stages(self) -> list[str]:
        """The stages of the events."""
        return [event["stage"] for event in self.events]


def policy_text(*rules: dict[str, Any], **more: Any) -> bytes:
    """A policy file."""
    return json.dumps({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules, **more}).encode()


def audit_to(recorder: Recorder, *rules: dict[str, Any], **more: Any) -> Audit:
    """An audit with these rules; by default everything is recorded."""
    text = policy_text(*(rules or ({"level": "RequestResponse"},)), **more)
    return Audit(PolicyEvaluator(parse_policy(text)), recorder, AuditMetrics())


def event_of(size: int = 0, level: str = "Metadata", **fields: Any) -> AuditEvent:
    """An event of a create; `size` bytes are in its body."""
    own = {"level": level, "auditID": "a-1", "stage": "ResponseComplete", "requestURI": "/api", "verb": "create"}
    more: dict[str, Any] = {"user": {"username": "jane"}, "requestReceivedTimestamp": "2026-01-02T03:04:05.000006Z"}
    if size:
        more["requestObject"] = {"data": "x" * size}
    return AuditEvent({**own, **more, **fields})
