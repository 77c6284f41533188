"""`load_config`: the configuration that kubectl would use.

The order is that of client-go: kubeconfig files (a path, KUBECONFIG, or ~/.kube/config) and, if they select no context,
the Pod that the process runs in.

Source: client-go tools/clientcmd/{loader,client_config,merged_client_builder}.go (1.36).
"""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import msgspec

from sampan.client.config.config import Config, ExecConfig, InteractiveMode
from sampan.client.config.in_cluster import SERVICE_ACCOUNT, in_cluster_config, in_cluster_possible
from sampan.client.config.kubeconfig import AuthInfo, ClusterEntry, ContextEntry, KubeConfig, merge, read_kubeconfig
from sampan.client.config.proxy import proxy_from_environment
from sampan.client.config.validate import cluster_faults, user_faults
from sampan.client.errors import ConfigError
from sampan.client.identity import Impersonation
from sampan.http.client.address import ServerAddress
from sampan.http.client.tls import TlsOptions

_log = logging.getLogger("sampan.client")

_EXEC_EXTENSION = "client.authentication.k8s.io/exec"


@dataclass(frozen=True, slots=True)
class ConfigOverrides:
    """Values that override those of the files; empty values do not."""

    context: str = ""
    cluster: str = ""
    user: str = ""
    namespace: str = ""
    server: str = ""
    certificate_authority: str = ""
    """File of the certificate authority. It turns verification of the server's certificate on."""
    insecure_skip_tls_verify: bool = False
    token: str = field(default="", repr=False)
    impersonation: Impersonation = field(default_factory=Impersonation)


def load_config(
    path: str | Path | None = None,
    *,
    overrides: ConfigOverrides | None = None,
    environ: Mapping[str, str] | None = None,
    mounted: Path = SERVICE_ACCOUNT,
) -> Config:
    """Return the configuration that kubectl would use here.

    `path` is the only file to read. By default, the files of KUBECONFIG, else `~/.kube/config`, else the Pod's service
    account below `mounted` are used. `environ` defaults to the process's environment. Raises `ConfigError` with file
    and entry.
    """
    environ = os.environ if environ is None else environ
    overrides = overrides or ConfigOverrides()
    kubeconfig = load_kubeconfig(path, environ)
    if not (kubeconfig.current_context or overrides.context or overrides.cluster or overrides.server):
        if path is None and in_cluster_possible(environ, mounted):
            return in_cluster_config(environ, mounted)
        raise ConfigError(_nothing_chosen(kubeconfig, path, environ))
    return select(kubeconfig, overrides, environ)


def load_kubeconfig(path: str | Path | None, environ: Mapping[str, str]) -> KubeConfig:
    """Return the merged kubeconfig files. Missing ones are skipped, unless `path` names one. Raises `ConfigError`."""
    if path is not None:
        try:
            return read_kubeconfig(Path(path))
        except FileNotFoundError as error:
            raise ConfigError(f"{path}: file does not exist") from error
    found = []
    paths = kubeconfig_paths(environ)
    for file in paths:
        try:
            found.append(read_kubeconfig(file))
        except FileNotFoundError:
            continue
    if not found and environ.get("KUBECONFIG"):
        _log.warning("no file of KUBECONFIG exists: %s", ", ".join(map(str, paths)))
    return merge(found)


def kubeconfig_paths(environ: Mapping[str, str]) -> list[Path]:
    """Return the paths of kubeconfig files. Earlier files take precedence."""
    named = environ.get("KUBECONFIG", "")
    if named:
        return [Path(file) for file in dict.fromkeys(named.split(os.pathsep)) if file]
    home = environ.get("HOME", "")
    return [Path(home) / ".kube" / "config"] if home else []


def select(kubeconfig: KubeConfig, overrides: ConfigOverrides, environ: Mapping[str, str]) -> Config:
    """Return the configuration of one context. Raises `ConfigError`."""
    context_name = overrides.context or kubeconfig.current_context
    context = _context(kubeconfig, context_name)
    where = kubeconfig.origin("context", context_name) if context_name else "the configuration"
    cluster_name, user_name = overrides.cluster or context.cluster, overrides.user or context.user
    if cluster_name not in kubeconfig.clusters and (cluster_name or not overrides.server):
        raise ConfigError(_missing(where, "cluster", cluster_name, kubeconfig.clusters))
    if user_name and user_name not in kubeconfig.users:
        raise ConfigError(_missing(where, "user", user_name, kubeconfig.users))
    cluster = _overridden_cluster(kubeconfig.clusters.get(cluster_name, ClusterEntry()), overrides)
    user = _overridden_user(kubeconfig.users.get(user_name, AuthInfo()), overrides)
    faults = [f"{kubeconfig.origin('cluster', cluster_name)}: {fault}" for fault in cluster_faults(cluster)]
    faults += [f"{kubeconfig.origin('user', user_name)}: {fault}" for fault in user_faults(user)]
    if faults:
        raise ConfigError("; ".join(faults))
    try:
        address = _address(cluster)
    except ValueError as error:
        raise ConfigError(f"{kubeconfig.origin('cluster', cluster_name)}: server: {error}") from error
    config = Config(
        server=str(address),
        namespace=overrides.namespace or context.namespace or "default",
        tls=_tls(cluster, user),
        proxy_url=cluster.proxy_url or proxy_from_environment(environ, address),
        compression=not cluster.disable_compression,
        impersonation=overrides.impersonation if overrides.impersonation.user else _impersonation(user),
        environ=environ,
        context=context_name,
        exec_cluster_config=next((e.extension for e in cluster.extensions if e.name == _EXEC_EXTENSION), None),
    )
    # Credentials are never sent over an unencrypted connection.
    return _with_credentials(config, user) if address.secure else config


def _overridden_cluster(cluster: ClusterEntry, overrides: ConfigOverrides) -> ClusterEntry:
    if overrides.server:
        cluster = msgspec.structs.replace(cluster, server=overrides.server)
    if overrides.certificate_authority or overrides.insecure_skip_tls_verify:
        cluster = msgspec.structs.replace(
            cluster,
            certificate_authority=overrides.certificate_authority,
            certificate_authority_data=b"",
            insecure_skip_tls_verify=overrides.insecure_skip_tls_verify,
        )
    return cluster


def _overridden_user(user: AuthInfo, overrides: ConfigOverrides) -> AuthInfo:
    """Return the user with the token of the overrides, which replaces all other credentials except a client
    certificate.
    """
    if not overrides.token:
        return user
    return msgspec.structs.replace(user, token=overrides.token, token_file="", username="", password="", exec=None)


def _context(kubeconfig: KubeConfig, name: str) -> ContextEntry:
    if name and name not in kubeconfig.contexts:
        known = ", ".join(sorted(kubeconfig.contexts)) or "none"
        raise ConfigError(f'context "{name}" does not exist (existing: {known})')
    return kubeconfig.contexts.get(name, ContextEntry())


def _with_credentials(config: Config, user: AuthInfo) -> Config:
    return replace(
        config,
        token=user.token,
        token_file=user.token_file,
        username=user.username,
        password=user.password,
        exec=_exec(user),
    )


def _exec(user: AuthInfo) -> ExecConfig | None:
    plugin = user.exec
    if plugin is None:
        return None
    return ExecConfig(
        plugin.api_version,
        plugin.command,
        tuple(plugin.args),
        {variable.name: variable.value for variable in plugin.env},
        plugin.install_hint,
        plugin.provide_cluster_info,
        cast(InteractiveMode, plugin.interactive_mode or "IfAvailable"),
    )


def _tls(cluster: ClusterEntry, user: AuthInfo) -> TlsOptions:
    return TlsOptions(
        cluster.certificate_authority,
        cluster.certificate_authority_data,
        user.client_certificate,
        user.client_certificate_data,
        user.client_key,
        user.client_key_data,
        cluster.tls_server_name,
        cluster.insecure_skip_tls_verify,
    )


def _impersonation(user: AuthInfo) -> Impersonation:
    return Impersonation(
        user.impersonate,
        user.impersonate_uid,
        tuple(user.impersonate_groups),
        {key: tuple(values) for key, values in user.impersonate_extra.items()},
    )


def _address(cluster: ClusterEntry) -> ServerAddress:
    server = cluster.server
    if "://" not in server:
        # Source: client-go rest/url_utils.go, DefaultServerURL.
        secure = cluster.certificate_authority or cluster.certificate_authority_data or cluster.insecure_skip_tls_verify
        server = f"{'https' if secure else 'http'}://{server}"
    return ServerAddress.parse(server)


def _nothing_chosen(kubeconfig: KubeConfig, path: str | Path | None, environ: Mapping[str, str]) -> str:
    looked = ", ".join(map(str, kubeconfig_paths(environ) if path is None else [path]))
    if kubeconfig.contexts:
        return f"{looked}: no current-context (existing: {', '.join(sorted(kubeconfig.contexts))})"
    if path is not None:
        return f"{path}: no cluster is set"
    where = looked or "nowhere: neither KUBECONFIG nor HOME is set"
    return (
        f"no configuration: no kubeconfig (searched: {where}), and this process is not in a Pod. Set KUBECONFIG, for "
        "`sampan up` to the kubeconfig in its data directory"
    )


def _missing(where: str, kind: str, name: str, known: Mapping[str, object]) -> str:
    if not name:
        return f"{where}: no {kind} is set"
    return f'{where}: {kind} "{name}" does not exist (existing: {", ".join(sorted(known)) or "none"})'
