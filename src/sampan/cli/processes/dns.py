"""`sampan dns`: a DNS server for the names of a cluster."""

import ipaddress

import click

from sampan.app.controller_manager.run import run_loops
from sampan.app.controller_manager.settings import DnsServerSettings, LoopSettings
from sampan.cli.settings_command import SettingsCommand
from sampan.core.settings.configuration import Configuration
from sampan.dns.settings import DnsSettings


@click.command("dns", cls=SettingsCommand, root=DnsServerSettings())
def dns_command(configuration: Configuration) -> None:
    """Run a DNS server for the names of a cluster: Services, their endpoints, and Pods.

    It maintains the Service kube-system/kube-dns, whose address belongs into the resolv.conf of Pods. Other names are
    forwarded to upstream servers.
    """
    settings: DnsServerSettings = configuration.settings
    run_loops(LoopSettings(settings.process, dns=settings.dns))


def dns_at(address: str) -> DnsSettings:
    """Return the settings of a server at `HOST:PORT`; an empty text means the default. Raises `ValueError`."""
    if not address:
        return DnsSettings()
    host, _, port = address.rpartition(":")
    try:
        found = str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        raise ValueError(f"--dns-address: {host!r} is not an IP address") from None
    return DnsSettings(bind=(found,), port=int(port))
