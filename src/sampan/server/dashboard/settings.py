"""`DashboardSettings`: settings of the dashboard of one server."""

from dataclasses import dataclass
from pathlib import Path

from sampan.core.settings import setting
from sampan.core.settings.kinds import BOOLEAN, FILE, NAMES, POSITIVE_DURATION, integer


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
    port: int = setting(
        0,
        "Serve the dashboard on this port alone. Its page then has another origin than the pages that the API server "
        "proxies, which run without a sandbox.",
        name="dashboard-port",
        kind=integer(0, 65535, metavar="PORT"),
        default="0: the port of the API",
    )
    hosts: tuple[str, ...] = setting(
        (),
        "Host names of the dashboard, in addition to those in the serving certificates. For names that only a load "
        "balancer has.",
        name="dashboard-hosts",
        kind=NAMES,
    )
    oidc_client_secret_file: Path | None = setting(
        None,
        "Secret of this server at the issuer of --oidc-issuer-url or --authentication-config, for logins to the "
        "dashboard. Without it, the server is a public client.",
        name="dashboard-oidc-client-secret-file",
        kind=FILE,
    )
    oidc_scopes: tuple[str, ...] = setting(
        ("openid", "profile", "email"),
        "Scopes that a login at the issuer requests.",
        name="dashboard-oidc-scopes",
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
