"""The options of `sampan up` about the audit. Names and meanings are kube-apiserver's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from sampan.app.audit_settings import MODES, AuditLogSettings, AuditSettings, AuditWebhookSettings, Delivery
from sampan.cli.durations import seconds
from sampan.core.time import NANOSECONDS_PER_SECOND, format_duration
from sampan.server.audit.buffered import BatchSettings
from sampan.server.audit.log import FORMATS
from sampan.server.audit.rotation import RotationSettings
from sampan.server.audit.truncate import TruncateSettings

Command = TypeVar("Command", bound=Callable[..., Any])

_FILE = click.Path(dir_okay=False, path_type=Path)
_MEGABYTE = 1 << 20
_LOG, _WEBHOOK = AuditLogSettings(), AuditWebhookSettings()
_VERSION = "audit.k8s.io/v1"


def _duration(seconds: float) -> str:
    return format_duration(round(seconds * NANOSECONDS_PER_SECOND))


def _option(name: str, default: object, text: str = "", **more: Any) -> Any:
    return click.option(f"--audit-{name}", default=default, show_default=True, help=text or None, **more)


def _delivery_options(name: str, delivery: Delivery) -> list[Any]:
    batch, truncate = delivery.batch, delivery.truncate
    return [
        _option(
            f"{name}-mode",
            delivery.mode,
            "batch: requests do not wait for their events; blocking: they do; blocking-strict: and fail if those do.",
            type=click.Choice(MODES),
        ),
        _option(f"{name}-batch-buffer-size", batch.buffer_size, "Events that may wait; those beyond are dropped."),
        _option(f"{name}-batch-max-size", batch.max_batch_size, "Events in a batch."),
        _option(f"{name}-batch-max-wait", _duration(batch.max_batch_wait_s), callback=seconds, metavar="DURATION"),
        _option(f"{name}-batch-throttle-enable", batch.throttle_enable, type=click.BOOL),
        _option(f"{name}-batch-throttle-qps", batch.throttle_qps, "Batches a second."),
        _option(f"{name}-batch-throttle-burst", batch.throttle_burst),
        _option(
            f"{name}-truncate-enabled",
            truncate.enabled,
            "Hold events to a size: take their bodies out, drop those that are still too long.",
            type=click.BOOL,
        ),
        _option(f"{name}-truncate-max-batch-size", truncate.max_batch_size_bytes, "In bytes."),
        _option(f"{name}-truncate-max-event-size", truncate.max_event_size_bytes, "In bytes."),
        _option(f"{name}-version", _VERSION, type=click.Choice((_VERSION,))),
    ]


_COUNT = click.IntRange(min=0)
_OPTIONS = [
    click.option("--audit-policy-file", type=_FILE, help="Policy: what is recorded. Without it nothing is."),
    _option("log-path", "", "File with a line for each event; -: the standard output."),
    _option("log-format", _LOG.format, type=click.Choice(FORMATS)),
    _option("log-maxage", _LOG.rotation.max_age_days, "Days that old files are kept; 0: any time.", type=_COUNT),
    _option("log-maxbackup", _LOG.rotation.max_backups, "Old files that are kept; 0: any number.", type=_COUNT),
    _option(
        "log-maxsize",
        _LOG.rotation.max_size_bytes // _MEGABYTE,
        "Megabytes beyond which a new file is begun; 0: never.",
        type=_COUNT,
    ),
    _option("log-compress", _LOG.rotation.compress, "Compress old files.", type=click.BOOL),
    *_delivery_options("log", _LOG.delivery),
    click.option("--audit-webhook-config-file", type=_FILE, help="Kubeconfig of a webhook that is sent all events."),
    _option(
        "webhook-initial-backoff",
        _duration(_WEBHOOK.initial_backoff_s),
        "Before a failed call is tried again for the first time.",
        callback=seconds,
        metavar="DURATION",
    ),
    *_delivery_options("webhook", _WEBHOOK.delivery),
]


def audit_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def take_audit(options: dict[str, Any]) -> AuditSettings:
    """Take these options out of a command's options."""
    own = {name.removeprefix("audit_"): options.pop(name) for name in list(options) if name.startswith("audit_")}
    rotation = RotationSettings(
        own["log_maxsize"] * _MEGABYTE, own["log_maxbackup"], own["log_maxage"], own["log_compress"]
    )
    log = AuditLogSettings(own["log_path"], own["log_format"], rotation, _delivery(own, "log", _LOG.delivery))
    webhook = AuditWebhookSettings(
        own["webhook_config_file"], own["webhook_initial_backoff"], _delivery(own, "webhook", _WEBHOOK.delivery)
    )
    return AuditSettings(own["policy_file"], log, webhook)


def _delivery(own: dict[str, Any], name: str, defaults: Delivery) -> Delivery:
    batch = BatchSettings(
        own[f"{name}_batch_buffer_size"],
        own[f"{name}_batch_max_size"],
        own[f"{name}_batch_max_wait"],
        own[f"{name}_batch_throttle_enable"],
        own[f"{name}_batch_throttle_qps"],
        own[f"{name}_batch_throttle_burst"],
        defaults.batch.concurrent,
    )
    truncate = TruncateSettings(
        own[f"{name}_truncate_enabled"],
        own[f"{name}_truncate_max_batch_size"],
        own[f"{name}_truncate_max_event_size"],
    )
    return Delivery(own[f"{name}_mode"], batch, truncate)
