"""`sampan controllers`: the control loops of a cluster in a separate process."""

import click

from sampan.app.controller_manager.choice import UnknownController, chosen_controllers
from sampan.app.controller_manager.run import run_loops
from sampan.app.controller_manager.settings import ControllersSettings, LoopSettings
from sampan.cli.settings_command import SettingsCommand
from sampan.controllers.names import NAMES
from sampan.core.settings.configuration import Configuration
from sampan.server.verbs.components import CONTROLLER_MANAGER_LEASE


@click.command("controllers", cls=SettingsCommand, root=ControllersSettings())
def controllers_command(configuration: Configuration) -> None:
    """Run control loops: Deployments get ReplicaSets, these get Pods, and so on.

    They work on any cluster; one with a kube-controller-manager needs none of them.
    """
    settings: ControllersSettings = configuration.settings
    try:
        chosen = chosen_controllers(settings.controllers, NAMES)
        settings.signing.check()
        settings.node_cidrs.resolved()
    except UnknownController as error:
        raise click.UsageError(f"--controllers: {error}") from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    run_loops(
        LoopSettings(
            settings.process,
            chosen,
            lease=CONTROLLER_MANAGER_LEASE if settings.leader_elect else "",
            signing=settings.signing,
            node_cidrs=settings.node_cidrs,
            local_path=settings.local_path,
            load_balancer=settings.load_balancer.options(),
            legacy_token_clean_up_period_s=settings.legacy_token_clean_up_period_s,
        )
    )
