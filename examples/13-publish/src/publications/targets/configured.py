"""Targets that the environment of the operator configures. Users of the API choose one, but cannot add one."""

import os
from collections.abc import Mapping
from pathlib import Path

from publications.targets.dns import DnsZone
from publications.targets.haproxy import HaProxy
from publications.targets.hosts import HostsFile
from publications.targets.target import Target


def configured(environ: Mapping[str, str] = os.environ) -> dict[str, Target]:
    """Return the targets of PUBLISH_DNS (`HOST:PORT/ZONE`, key in PUBLISH_DNS_KEY), PUBLISH_HAPROXY, PUBLISH_FILE."""
    found: dict[str, Target] = {}
    if server := environ.get("PUBLISH_DNS"):
        found["dns"] = DnsZone(server, environ.get("PUBLISH_DNS_KEY", ""))
    if socket := environ.get("PUBLISH_HAPROXY"):
        found["haproxy"] = HaProxy(Path(socket))
    if path := environ.get("PUBLISH_FILE"):
        found["file"] = HostsFile(Path(path))
    return found
