"""`sampan join`: makes this machine a node of a cluster."""

from dataclasses import replace

import click

from sampan.app.controller_manager.join_settings import JoinSettings
from sampan.app.nodes.join import join, reachable_address, server_url
from sampan.cli.settings_command import SettingsCommand
from sampan.core.settings.configuration import Configuration


@click.command("join", cls=SettingsCommand, root=JoinSettings())
@click.argument("server", metavar="URL")
def join_command(server: str, configuration: Configuration) -> None:
    """Make this machine a node of the cluster at URL, and run the node.

    `sampan token create --print-join-command` prints the command for a cluster. The node's certificate is in --root. It
    is renewed, so later starts need no token.
    """
    settings: JoinSettings = configuration.settings
    node = reachable_address(server_url(server), settings.node, given="address" in configuration.given)
    join(server, replace(settings, node=node))
