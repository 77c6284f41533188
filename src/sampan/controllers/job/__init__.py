"""The Job controller: runs Pods until enough of them succeed, and counts each exactly once."""

from sampan.component_base.context import ControllerContext
from sampan.controllers.job.controller import JobController
from sampan.controllers.job.orphans import OrphanController

__all__ = ["set_up"]


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    JobController(context).start()
    OrphanController(context).start()
