"""Checks of clusters and users of a kubeconfig. Source: client-go tools/clientcmd/validation.go (1.36)."""

import os
from collections.abc import Iterator

from sampan.client.config.kubeconfig import AuthInfo, ClusterEntry, Exec
from sampan.http.client.address import ProxyAddress

EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")


def cluster_faults(cluster: ClusterEntry) -> Iterator[str]:
    """Yield a line for each reason why a client cannot use a cluster of a kubeconfig file."""
    if not cluster.server:
        yield "it has no server"
    if cluster.proxy_url:
        try:
            ProxyAddress.parse(cluster.proxy_url)
        except ValueError as error:
            yield f"proxy-url: {error}"
    if cluster.certificate_authority and cluster.certificate_authority_data:
        yield "certificate-authority and certificate-authority-data are both given"
    if cluster.insecure_skip_tls_verify and (cluster.certificate_authority or cluster.certificate_authority_data):
        yield "insecure-skip-tls-verify and a certificate authority exclude each other"
    yield from _unreadable("certificate-authority", cluster.certificate_authority)


def user_faults(user: AuthInfo) -> Iterator[str]:
    """Yield a line for each reason why a client cannot use the credentials of a kubeconfig file."""
    if user.token and (user.username or user.password):
        yield "token and username/password exclude each other"
    if user.client_certificate or user.client_certificate_data:
        if user.client_certificate and user.client_certificate_data:
            yield "client-certificate and client-certificate-data are both given"
        if user.client_key and user.client_key_data:
            yield "client-key and client-key-data are both given"
        if not (user.client_key or user.client_key_data):
            yield "a client certificate needs client-key or client-key-data"
        yield from _unreadable("client-certificate", user.client_certificate)
        yield from _unreadable("client-key", user.client_key)
    if user.exec is not None:
        yield from _exec_faults(user.exec)
    if user.auth_provider is not None:
        yield f"auth-provider {user.auth_provider.name!r} is not supported: use an exec plugin"
    if (user.impersonate_uid or user.impersonate_groups or user.impersonate_extra) and not user.impersonate:
        yield "as-uid, as-groups and as-user-extra need `as`"


def _exec_faults(plugin: Exec) -> Iterator[str]:
    if not plugin.command:
        yield "exec: command must be given"
    if plugin.api_version not in EXEC_VERSIONS:
        shown = f"{plugin.api_version!r} is unknown" if plugin.api_version else "must be given"
        yield f"exec: apiVersion {shown} (known: {', '.join(EXEC_VERSIONS)})"
    if any(not variable.name for variable in plugin.env):
        yield "exec: a variable of env has no name"
    if not plugin.interactive_mode and plugin.api_version == EXEC_VERSIONS[0]:
        yield "exec: interactiveMode must be given"
    elif plugin.interactive_mode and plugin.interactive_mode not in INTERACTIVE_MODES:
        yield f"exec: interactiveMode {plugin.interactive_mode!r} is unknown (known: {', '.join(INTERACTIVE_MODES)})"


def _unreadable(name: str, path: str) -> Iterator[str]:
    if path and not os.access(path, os.R_OK):
        yield f"{name}: {path} cannot be read"
