"""The CronJob controller: creates Jobs on schedule, and deletes old finished ones."""

from sampan.component_base.context import ControllerContext
from sampan.controllers.cron_job.controller import CronJobController

__all__ = ["set_up"]


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    CronJobController(context).start()
