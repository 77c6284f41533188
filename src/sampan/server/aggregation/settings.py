"""Intervals and the client certificate for requests to servers behind APIServices."""

from dataclasses import dataclass, field
from pathlib import Path

from sampan.core.settings import setting
from sampan.core.settings.kinds import CERTIFICATES_FILE, KEY_FILE


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of checks and fetches, in seconds."""

    resync_s: float = 30.0
    """Interval of checks of a backend without changes."""
    documents_s: float = 60.0
    """Interval of fetches of documents."""
    retry_s: float = 0.1
    """Delay after the first failed check. Each further failure doubles it, up to `resync_s`."""
    documents_retry_s: float = 0.5
    """Delay after the first failed fetch. Each further failure doubles it, up to `documents_s`."""


@dataclass(frozen=True, slots=True)
class AggregationSettings:
    """Connections to backends."""

    client_certificate: Path | None = setting(
        None,
        "Client certificate for the servers behind APIServices. Needs --proxy-client-key-file.",
        name="proxy-client-cert-file",
        kind=CERTIFICATES_FILE,
        default="pki/front-proxy-client.crt in --data",
    )
    client_key: Path | None = setting(
        None, "Key of --proxy-client-cert-file.", name="proxy-client-key-file", kind=KEY_FILE
    )
    reject_redirects: bool = setting(
        True,
        "Return 502 if a server behind an APIService redirects.",
        name="aggregator-reject-forwarding-redirect",
    )
    intervals: Intervals = field(default_factory=Intervals)
