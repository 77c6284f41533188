"""Audit of a server, from its settings.

Source: apiserver pkg/server/options/audit.go (1.36).
"""

from pathlib import Path

from sampan.app.errors import StartError
from sampan.app.settings.audit import STANDARD_OUTPUT, AuditLogSettings, AuditSettings, Delivery
from sampan.core.clock import utc_now
from sampan.registry.cluster import Cluster
from sampan.registry.webhook.client import HttpsWebhook
from sampan.registry.webhook.kubeconfig import read_webhook_kubeconfig
from sampan.registry.webhook.services import ServiceResolver
from sampan.server.audit.audit import Audit
from sampan.server.audit.backend import Backend, ForgivingBackend, UnionBackend
from sampan.server.audit.buffered import BatchSettings, BufferedBackend
from sampan.server.audit.evaluator import PolicyEvaluator
from sampan.server.audit.log import LogBackend, StandardOutput
from sampan.server.audit.metrics import AuditMetrics
from sampan.server.audit.policy import parse_policy
from sampan.server.audit.rotation import RotatingFile
from sampan.server.audit.truncate import TruncateBackend
from sampan.server.audit.webhook import WebhookBackend


def audit_of(settings: AuditSettings, cluster: Cluster) -> Audit | None:
    """Return the audit, which the caller runs, or None without a policy or a backend. Raises `StartError`."""
    _check("log", settings.log.delivery, used=bool(settings.log.path))
    _check("webhook", settings.webhook.delivery, used=settings.webhook.config_file is not None)
    if settings.policy_file is None:
        return None
    policy = _policy(settings.policy_file)
    metrics = AuditMetrics()
    try:
        backends = _backends(settings, cluster, metrics)
    except OSError as error:
        raise StartError(f"cannot use {error.filename} for the audit: {error.strerror}") from error
    except ValueError as error:
        raise StartError(f"initializing audit webhook: {error}") from error
    if not backends:
        return None
    return Audit(policy, backends[0] if len(backends) == 1 else UnionBackend(backends), metrics)


def _policy(file: Path) -> PolicyEvaluator:
    try:
        return PolicyEvaluator(parse_policy(file.read_bytes()))
    except OSError as error:
        raise StartError(f"loading audit policy file: cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise StartError(f"loading audit policy file: {error}: from file {file}") from error


def _backends(settings: AuditSettings, cluster: Cluster, metrics: AuditMetrics) -> list[Backend]:
    backends: list[Backend] = []
    if settings.log.path:
        backends.append(_delivered(_log(settings.log, metrics), settings.log.delivery, metrics))
    webhook = settings.webhook
    if webhook.config_file is not None:
        target, credentials = read_webhook_kubeconfig(webhook.config_file)
        resolve = ServiceResolver(cluster.reader)
        client = HttpsWebhook(target, resolve, credentials, requests=cluster.measures.requests)
        backoff_s = webhook.initial_backoff_s
        backend = WebhookBackend(client, metrics, initial_backoff_s=backoff_s, close=client.close)
        backends.append(_delivered(backend, webhook.delivery, metrics))
    return backends


def _log(settings: AuditLogSettings, metrics: AuditMetrics) -> LogBackend:
    if settings.path == STANDARD_OUTPUT:
        return LogBackend(StandardOutput(), settings.format, metrics)
    writer = RotatingFile(Path(settings.path), settings.rotation, utc_now)
    return LogBackend(writer, settings.format, metrics)


def _delivered(backend: Backend, delivery: Delivery, metrics: AuditMetrics) -> Backend:
    """Return the backend, wrapped in its buffer and in the truncation of large events."""
    if delivery.mode == "batch":
        backend = BufferedBackend(backend, delivery.batch, metrics)
    elif delivery.mode == "blocking":
        backend = ForgivingBackend(backend)
    return TruncateBackend(backend, delivery.truncate, metrics) if delivery.truncate.enabled else backend


def _check(name: str, delivery: Delivery, *, used: bool) -> None:
    """Raise `StartError` for invalid numbers."""
    if not used:
        return
    if delivery.mode == "batch":
        _check_batch(name, delivery.batch)
    event_bytes, batch_bytes = delivery.truncate.max_event_size_bytes, delivery.truncate.max_batch_size_bytes
    if event_bytes <= 0:
        raise StartError(f"invalid audit truncate {name} max event size {event_bytes}, must be a positive number")
    if batch_bytes < event_bytes:
        raise StartError(
            f"invalid audit truncate {name} max batch size {batch_bytes}, must be greater than max event size "
            f"({event_bytes})"
        )


def _check_batch(name: str, batch: BatchSettings) -> None:
    checks: list[tuple[str, float]] = [("buffer size", batch.buffer_size), ("max batch size", batch.max_batch_size)]
    if batch.throttle_enable:
        checks += [("throttle QPS", batch.throttle_qps), ("throttle burst", batch.throttle_burst)]
    for what, number in checks:
        if number <= 0:
            raise StartError(f"invalid audit batch {name} {what} {number}, must be a positive number")
