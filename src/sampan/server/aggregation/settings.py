"""How a server aggregates."""

from dataclasses import dataclass, field
from pathlib import Path

from sampan.core.settings import setting
from sampan.core.settings.kinds import FILE


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

    client_certificate: Path | None = setting(
        None,
        "Client certificate for the servers behind APIServices. Needs --proxy-client-key-file.",
        name="proxy-client-cert-file",
        kind=FILE,
        default="pki/front-proxy-client.crt in --data",
    )
    client_key: Path | None = setting(None, "Key of --proxy-client-cert-file.", name="proxy-client-key-file", kind=FILE)
    reject_redirects: bool = setting(
        True,
        "Return 502 if a server behind an APIService redirects.",
        name="aggregator-reject-forwarding-redirect",
    )
    intervals: Intervals = field(default_factory=Intervals)
