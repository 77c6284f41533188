"""Settings of a node's server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

PORT: Final = 10250


@dataclass(frozen=True, slots=True)
class NodeServerOptions:
    """Address, trust and content of the server."""

    host: str = ""
    """Empty: all addresses."""
    port: int = PORT
    """0: any free port."""
    node_name: str = ""
    """Name of the only node; empty if several nodes share the server."""
    addresses: tuple[str, ...] = ()
    """Names and addresses for its certificate."""
    client_ca: str = ""
    """Authorities for client certificates, as PEM: those of the kubeconfig. Empty to refuse client certificates."""
    log_directory: Path | None = None
    """Directory for /logs/; None to serve no files."""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    """Response of /configz, as fields of KubeletConfiguration."""
    connections_max: int = 4096
