"""`DashboardSettings`: settings of the dashboard of one server."""

from dataclasses import dataclass

from sampan.core.settings import setting
from sampan.core.settings.kinds import BOOLEAN, NAMES, POSITIVE_DURATION


@dataclass(frozen=True, slots=True)
class DashboardSettings:
    """The web page at /dashboard/, and the sessions of its users."""

    enabled: bool | None = setting(
        None,
        "Serve the dashboard, a web page, at /dashboard/.",
        name="dashboard",
        kind=BOOLEAN,
        default="true if --bind is a loopback address",
    )
    hosts: tuple[str, ...] = setting(
        (),
        "Host names of the dashboard, in addition to those in the serving certificates. For names that only a load "
        "balancer has.",
        name="dashboard-hosts",
        kind=NAMES,
    )
    session_idle_s: float = setting(
        3600.0,
        "Time without a request after which a session of the dashboard ends.",
        name="dashboard-session-idle-timeout",
        kind=POSITIVE_DURATION,
    )
    session_max_s: float = setting(
        43_200.0,
        "Longest time of a session of the dashboard. It ends earlier if its token expires.",
        name="dashboard-session-max-duration",
        kind=POSITIVE_DURATION,
    )
