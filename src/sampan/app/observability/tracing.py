"""Collector of a server's spans, from its settings.

The exporter is imported on demand: it belongs to an extra, and its import is slow.

Source: apiserver pkg/server/options/tracing.go (1.36).
"""

from pathlib import Path
from typing import Final, Protocol, cast

from sampan.app.errors import StartError
from sampan.core.extras import MissingExtra, import_extra
from sampan.server.filters.tracing import Tracer
from sampan.server.tracing.configuration import parse_tracing_configuration

_EXPORTER: Final = "sampan.server.tracing.otlp"


class Collector(Protocol):
    """Collector that creates spans and sends them."""

    tracer: Tracer

    def end(self) -> None:
        """Send the remaining spans. Waits some seconds if the receiver does not respond."""


def collector_of(file: Path | None) -> Collector | None:
    """Return the collector of a TracingConfiguration, or None without one. Raises `StartError`."""
    if file is None:
        return None
    try:
        configuration = parse_tracing_configuration(file.read_bytes())
    except OSError as error:
        raise StartError(f"failed to read tracing config: cannot read {file}: {error.strerror}") from error
    except ValueError as error:
        raise StartError(f"failed to validate tracing configuration: {file}: {error}") from error
    try:
        module = import_extra(_EXPORTER, extra="tracing", feature="--tracing-config-file")
    except MissingExtra as error:
        raise StartError(str(error)) from None
    return cast(Collector, module.OtlpCollector(configuration))
