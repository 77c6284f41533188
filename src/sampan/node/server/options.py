"""How the server of a node is set up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

PORT: Final = 10250


@dataclass(frozen=True, slots=True)
class NodeServerOptions:
    """What it listens to, whom it trusts, what it shows."""

    host: str = ""
    """Empty: all addresses."""
    port: int = PORT
    """0: any free one."""
    node_name: str = ""
    """Of the only node; empty where several share the server."""
    addresses: tuple[str, ...] = ()
    """Names and addresses for which its certificate stands."""
    client_ca: str = ""
    """The authorities of client certificates, PEM: those of the kubeconfig. Empty: no certificates are taken."""
    log_directory: Path | None = None
    """What /logs/ shows; None: nothing."""
    configuration: Mapping[str, Any] = field(default_factory=dict)
    """What /configz shows, in the terms of KubeletConfiguration."""
    connections_max: int = 4096
