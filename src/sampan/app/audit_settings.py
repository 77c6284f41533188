"""`AuditSettings`: what `sampan up` is told about the audit. Names and defaults are kube-apiserver's."""

from dataclasses import dataclass, field
from pathlib import Path

from sampan.server.audit.buffered import BatchSettings
from sampan.server.audit.rotation import RotationSettings
from sampan.server.audit.truncate import TruncateSettings
from sampan.server.audit.webhook import INITIAL_BACKOFF_S

MODES = ("batch", "blocking", "blocking-strict")
STANDARD_OUTPUT = "-"


@dataclass(frozen=True, slots=True)
class Delivery:
    """How events reach a backend."""

    mode: str = "batch"
    """One of `MODES`. batch: requests do not wait; blocking: they do; blocking-strict: and are refused if it fails."""
    batch: BatchSettings = field(default_factory=BatchSettings)
    truncate: TruncateSettings = field(default_factory=TruncateSettings)


LOG_BATCH = BatchSettings(max_batch_wait_s=0.0, throttle_enable=False, concurrent=False)
"""Whatever is there is written at once."""


@dataclass(frozen=True, slots=True)
class AuditLogSettings:
    """The log."""

    path: str = ""
    """"": none."""
    format: str = "json"
    rotation: RotationSettings = field(default_factory=RotationSettings)
    delivery: Delivery = field(default_factory=lambda: Delivery("blocking", LOG_BATCH))


@dataclass(frozen=True, slots=True)
class AuditWebhookSettings:
    """The webhook."""

    config_file: Path | None = None
    """A kubeconfig; None: no webhook."""
    initial_backoff_s: float = INITIAL_BACKOFF_S
    delivery: Delivery = field(default_factory=Delivery)


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """Without a policy nothing is recorded."""

    policy_file: Path | None = None
    log: AuditLogSettings = field(default_factory=AuditLogSettings)
    webhook: AuditWebhookSettings = field(default_factory=AuditWebhookSettings)

    def flags(self) -> tuple[tuple[str, str], ...]:
        """For /flagz."""
        told = {
            "policy-file": self.policy_file,
            "log-path": self.log.path,
            "log-format": self.log.format,
            "log-mode": self.log.delivery.mode,
            "webhook-config-file": self.webhook.config_file,
            "webhook-mode": self.webhook.delivery.mode,
        }
        return tuple((f"audit-{name}", str(value)) for name, value in told.items())
