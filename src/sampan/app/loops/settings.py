"""What a process of control loops is told."""

from dataclasses import dataclass
from pathlib import Path

USAGE_ERROR = 2
"""The exit code that says: to start it again would not help."""


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """The settings of one process of loops; read once, passed down. What is empty does not run."""

    kubeconfig: Path | None = None
    """None: what kubectl would use here."""
    controllers: tuple[str, ...] = ()
    """Their names in the catalogue."""
    scheduler: bool = False
    nodes: tuple[str, ...] = ()
    """The names of simulated nodes."""
    lease: str = ""
    """The Lease in kube-system that the one which works must hold; empty: this process is the only one."""
    probe_address: str = ""
    """`host:port` of /healthz, /readyz and /metrics; empty: none."""
    ends_with_stdin: bool = False
    """Whether the process ends when its standard input does: when whoever started it is gone."""
    log_level: str = "info"
    log_format: str = "text"
    """text (key=value) or json."""
