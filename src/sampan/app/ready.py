"""`announce_ready`: the lines that a server prints when it is ready."""

from collections.abc import Callable

from sampan.app.proxy import is_local
from sampan.app.settings.up import UpSettings
from sampan.server.apiserver import ApiServer
from sampan.server.pki.directory import ADMIN_GROUPS, ADMIN_USER
from sampan.server.request import UserInfo


def announce_ready(api: ApiServer, settings: UpSettings, address: str, announce: Callable[[str], None]) -> None:
    """Announce the address, HOST:PORT.

    If only users of this machine can reach the server, also announce a link to the dashboard for the administrator.
    """
    announce(f"ready https://{address} (kubeconfig {settings.data / 'kubeconfig'})")
    if api.dashboard is not None and is_local(settings):
        host, _, port = address.rpartition(":")
        page = f"{host}:{settings.dashboard.port or port}"
        announce(api.dashboard.link_line(page, UserInfo(ADMIN_USER, groups=ADMIN_GROUPS)))
