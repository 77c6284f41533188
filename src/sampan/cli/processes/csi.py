"""`sampan csi`: the sidecars of a storage driver."""

import click

from sampan.app.controller_manager.run import run_loops
from sampan.app.controller_manager.settings import CsiSettings, LoopSettings
from sampan.cli.settings_command import SettingsCommand
from sampan.core.settings.configuration import Configuration

LEASE = "sampan-csi"


@click.command("csi", cls=SettingsCommand, root=CsiSettings())
def csi_command(configuration: Configuration) -> None:
    """Provision, attach, resize and copy the volumes of a storage driver (CSI).

    It does the work of external-provisioner, -attacher, -resizer and -snapshotter, next to the driver's controller.
    """
    settings: CsiSettings = configuration.settings
    run_loops(LoopSettings(settings.process, csi=settings.sidecars, lease=LEASE if settings.leader_elect else ""))
