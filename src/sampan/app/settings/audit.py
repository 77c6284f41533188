"""`AuditSettings`: the settings of `sampan up` about the audit. Names and defaults are kube-apiserver's."""

from dataclasses import dataclass
from pathlib import Path

from sampan.core.settings import nested, setting
from sampan.core.settings.kinds import DURATION, FILE, LOG_FILE, one_of
from sampan.server.audit.buffered import BatchSettings
from sampan.server.audit.log import FORMATS
from sampan.server.audit.rotation import RotationSettings
from sampan.server.audit.truncate import TruncateSettings
from sampan.server.audit.webhook import INITIAL_BACKOFF_S

MODES = ("batch", "blocking", "blocking-strict")
STANDARD_OUTPUT = "-"


@dataclass(frozen=True, slots=True)
class Delivery:
    """Delivery of events to a backend."""

    mode: str = setting(
        "batch",
        "batch: requests do not wait for their events. blocking: they wait. blocking-strict: they fail if an event "
        "cannot be recorded.",
        kind=one_of(*MODES),
    )
    batch: BatchSettings = nested(BatchSettings, prefix="batch-")
    truncate: TruncateSettings = nested(TruncateSettings, prefix="truncate-")


LOG_BATCH = BatchSettings(max_batch_wait_s=0.0, throttle_enable=False, concurrent=False)
"""Batch settings of the log: pending events are written at once."""


@dataclass(frozen=True, slots=True)
class AuditLogSettings:
    """Settings of the log backend."""

    path: str = setting("", "File with one line for each event; - is the standard output.", kind=LOG_FILE)
    format: str = setting("json", "Format of a line.", kind=one_of(*FORMATS))
    rotation: RotationSettings = nested(RotationSettings)
    delivery: Delivery = nested(lambda: Delivery("blocking", LOG_BATCH))


@dataclass(frozen=True, slots=True)
class AuditWebhookSettings:
    """Settings of the webhook backend."""

    config_file: Path | None = setting(None, "Kubeconfig of a webhook that receives all events.", kind=FILE)
    initial_backoff_s: float = setting(
        INITIAL_BACKOFF_S, "Delay before the first retry of a failed call.", kind=DURATION
    )
    delivery: Delivery = nested(Delivery)


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """Settings of the audit. Without a policy nothing is recorded."""

    policy_file: Path | None = setting(
        None, "Audit policy: which events are recorded. Without it there is no audit.", kind=FILE
    )
    log: AuditLogSettings = nested(AuditLogSettings, prefix="log-")
    webhook: AuditWebhookSettings = nested(AuditWebhookSettings, prefix="webhook-")
