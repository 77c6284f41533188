"""Settings of requests that are proxied, from those of a server."""

import ipaddress
import os
from dataclasses import replace

from sampan.app.errors import StartError
from sampan.app.ports.bound_port import listen_address
from sampan.app.settings.up import UpSettings
from sampan.server.pki.directory import ServerCredentials
from sampan.server.proxy.kubelet import KubeletConnection
from sampan.server.proxy.upstreams import UpstreamSettings


def proxy_settings(settings: UpSettings, credentials: ServerCredentials) -> UpstreamSettings:
    """Return the settings. The default kubelet client certificate is the data directory's. Raises `StartError`."""
    kubelet = settings.kubelet
    if kubelet.client_certificate is None:
        files = (credentials.kubelet_certificate_file, credentials.kubelet_key_file)
        kubelet = replace(kubelet, client_certificate=files[0], client_key=files[1])
    for file in (kubelet.client_certificate, kubelet.client_key, kubelet.certificate_authority):
        if file is not None and not os.access(file, os.R_OK):
            raise StartError(f"cannot read {file}")
    try:
        KubeletConnection(_NoNodes(), kubelet)
    except (OSError, ValueError) as error:  # ssl.SSLError is a subclass of OSError
        raise StartError(f"cannot use the files of the kubelet client: {error}") from error
    allow, sandboxed = settings.proxy_allow_loopback, serves_dashboard(settings) and not settings.dashboard.port
    return UpstreamSettings(kubelet, is_local(settings) if allow is None else allow, sandboxed)


def serves_dashboard(settings: UpSettings) -> bool:
    """Return True if the server has the dashboard: by default only for users of this machine."""
    enabled = settings.dashboard.enabled
    return is_local(settings) if enabled is None else enabled


class _NoNodes:
    def get(self, group: str, resource: str, namespace: str, name: str) -> None:
        return None


def is_local(settings: UpSettings) -> bool:
    """Return True if only this machine can reach the server. A proxy then gives its clients no additional access."""
    bind = listen_address(settings)
    try:
        return ipaddress.ip_address(bind).is_loopback
    except ValueError:
        return bind == "localhost"
