"""`sampan proxy`: the service proxy of a node."""

import asyncio

import click

from sampan.app.controller_manager.proxy_settings import NodeProxy, ProxySettings
from sampan.app.controller_manager.run import run_loops
from sampan.app.controller_manager.settings import LoopSettings, ProcessSettings
from sampan.app.errors import StartError
from sampan.cli.settings_command import SettingsCommand
from sampan.core.settings.configuration import Configuration
from sampan.service_proxy.errors import ServiceProxyError
from sampan.service_proxy.kernel import Kernel


@click.command("proxy", cls=SettingsCommand, root=ProxySettings())
def proxy_command(configuration: Configuration) -> None:
    """Make Services reachable on this machine: write rules of nftables, as kube-proxy does.

    It needs root, or the capability CAP_NET_ADMIN. The rules are in the tables "ip sampan-proxy" and "ip6
    sampan-proxy". They stay when the command ends, so that traffic continues; --cleanup deletes them.
    """
    settings: ProxySettings = configuration.settings
    if settings.cleanup:
        _clean_up()
        return
    process = ProcessSettings(settings.kubeconfig, settings.metrics_bind_address, settings.log)
    run_loops(LoopSettings(process, proxy=NodeProxy(settings.node, settings.rules)))


def _clean_up() -> None:
    kernel = Kernel()
    try:
        asyncio.run(kernel.clean_up())
    except ServiceProxyError as error:
        raise StartError(str(error)) from error
    finally:
        kernel.close()
