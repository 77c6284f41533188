"""The scheduler: assigns a Node to every Pod.

set_up(ControllerContext(manager, SystemClock()))                                # profile default-scheduler
set_up(context, read_configuration(yaml.safe_load(text)), more_plugins={"Mine": make_mine})
"""

from sampan.scheduler.configuration import ProfileConfig, SchedulerConfiguration, read_configuration
from sampan.scheduler.set_up import set_up

__all__ = ["ProfileConfig", "SchedulerConfiguration", "read_configuration", "set_up"]
