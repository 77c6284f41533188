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
    """Address of the server; empty for all addresses of the machine."""
    port: int = PORT
    """Port of the server; 0 for any free port."""
    node_name: str = ""
    """Name of the only node; empty if several nodes share the server."""
    addresses: tuple[str, ...] = ()
    """Names and addresses in the server's certificate."""
    client_ca: str = ""
    """CAs for client certificates (PEM), from the kubeconfig. Empty to refuse client certificates."""
    log_directory: Path | None = None
    """Directory for /logs/; None to serve no files."""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    """Response of /configz, as fields of KubeletConfiguration."""
    connections_max: int = 4096
