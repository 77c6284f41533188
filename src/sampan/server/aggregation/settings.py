"""How a server aggregates."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Intervals:
    """How often backends are asked, in seconds."""

    resync_s: float = 30.0
    """Between looks at a backend about which nothing is heard."""
    documents_s: float = 60.0
    """Between looks at its documents."""
    retry_s: float = 0.1
    """After the first failure of a look; each further one doubles it, up to `resync_s`."""
    documents_retry_s: float = 0.5
    """The same of documents, up to `documents_s`."""


@dataclass(frozen=True, slots=True)
class AggregationSettings:
    """How backends are reached."""

    client_certificate: Path | None = None
    client_key: Path | None = None
    """What they are shown, so that they believe whom the server names; both or none."""
    reject_redirects: bool = True
    """A redirect of a backend is answered with 502."""
    intervals: Intervals = field(default_factory=Intervals)
