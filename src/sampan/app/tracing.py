"""Collector of a server's spans, from its settings.

The exporter is imported on demand: it belongs to an extra, and its import is slow.

Source: apiserver pkg/server/options/tracing.go (1.36).
"""

import importlib
from pathlib import Path
from typing import Final, Protocol, cast

from sampan.app.errors import StartError
from sampan.server.filters.tracing import Tracer
from sampan.server.tracing.configuration import parse_tracing_configuration

_EXPORTER: Final = "sampan.server.tracing.otlp"


class Collector(Protocol):
    """Collector that creates spans and sends them."""

    tracer: Tracer

    def end(self) -> None:
        """Send the remaining spans. Waits some seconds if the receiver does not answer."""


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
        module = importlib.import_module(_EXPORTER)
    except ImportError as error:
        text = f"--tracing-config-file needs the extra `tracing` (pip install 'sampan[tracing]'): {error}"
        raise StartError(text) from error
    return cast(Collector, module.OtlpCollector(configuration))
