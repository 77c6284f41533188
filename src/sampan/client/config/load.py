"""`load_config`: the configuration that kubectl would use.

In client-go's order: the files that are named (a path, or KUBECONFIG, or ~/.kube/config), and if these choose no
context, the pod that the process runs in.
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
from sampan.client.config.kubeconfig import Cluster, Context, KubeConfig, User, merge, read_kubeconfig
from sampan.client.config.proxy import proxy_from_environment
from sampan.client.config.validate import cluster_faults, user_faults
from sampan.client.errors import ConfigError
from sampan.client.identity import Impersonation
from sampan.http.address import ServerAddress
from sampan.http.tls import TlsOptions

_log = logging.getLogger("sampan.client")

_EXEC_EXTENSION = "client.authentication.k8s.io/exec"


@dataclass(frozen=True, slots=True)
class ConfigOverrides:
    """What to use in place of what the files say; empty: as they say."""

    context: str = ""
    cluster: str = ""
    user: str = ""
    namespace: str = ""
    server: str = ""
    certificate_authority: str = ""
    """A file; the server's certificate is verified then, whatever the files say."""
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
    """The configuration that kubectl would use here.

    `path`: this file and no other; else the files of KUBECONFIG, else `~/.kube/config`, else the pod's service account
    below `mounted`. `environ` is the process's own by default. Raises `ConfigError`, which names file and entry.
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
    """The kubeconfig files, merged. Missing ones are left out, unless `path` names one. Raises `ConfigError`."""
    if path is not None:
        try:
            return read_kubeconfig(Path(path))
        except FileNotFoundError as error:
            raise ConfigError(f"{path}: there is no such file") from error
    found = []
    paths = kubeconfig_paths(environ)
    for file in paths:
        try:
            found.append(read_kubeconfig(file))
        except FileNotFoundError:
            continue
    if not found and environ.get("KUBECONFIG"):
        _log.warning("KUBECONFIG names no file that exists: %s", ", ".join(map(str, paths)))
    return merge(found)


def kubeconfig_paths(environ: Mapping[str, str]) -> list[Path]:
    """Where kubeconfig files are looked for, first wins."""
    named = environ.get("KUBECONFIG", "")
    if named:
        return [Path(file) for file in dict.fromkeys(named.split(os.pathsep)) if file]
    home = environ.get("HOME", "")
    return [Path(home) / ".kube" / "config"] if home else []


def select(kubeconfig: KubeConfig, overrides: ConfigOverrides, environ: Mapping[str, str]) -> Config:
    """The configuration of one context. Raises `ConfigError`."""
    context_name = overrides.context or kubeconfig.current_context
    context = _context(kubeconfig, context_name)
    where = kubeconfig.origin("context", context_name) if context_name else "the configuration"
    cluster_name, user_name = overrides.cluster or context.cluster, overrides.user or context.user
    if cluster_name not in kubeconfig.clusters and (cluster_name or not overrides.server):
        raise ConfigError(_missing(where, "cluster", cluster_name, kubeconfig.clusters))
    if user_name and user_name not in kubeconfig.users:
        raise ConfigError(_missing(where, "user", user_name, kubeconfig.users))
    cluster = _overridden_cluster(kubeconfig.clusters.get(cluster_name, Cluster()), overrides)
    user = _overridden_user(kubeconfig.users.get(user_name, User()), overrides)
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
    # Who asks is told to nobody over an open line.
    return _with_credentials(config, user) if address.secure else config


def _overridden_cluster(cluster: Cluster, overrides: ConfigOverrides) -> Cluster:
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


def _overridden_user(user: User, overrides: ConfigOverrides) -> User:
    """A token that is given goes before whatever else says who asks, but for a client certificate, which goes along."""
    if not overrides.token:
        return user
    return msgspec.structs.replace(user, token=overrides.token, token_file="", username="", password="", exec=None)


def _context(kubeconfig: KubeConfig, name: str) -> Context:
    if name and name not in kubeconfig.contexts:
        known = ", ".join(sorted(kubeconfig.contexts)) or "none"
        raise ConfigError(f'context "{name}" does not exist (there are: {known})')
    return kubeconfig.contexts.get(name, Context())


def _with_credentials(config: Config, user: User) -> Config:
    return replace(
        config,
        token=user.token,
        token_file=user.token_file,
        username=user.username,
        password=user.password,
        exec=_exec(user),
    )


def _exec(user: User) -> ExecConfig | None:
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


def _tls(cluster: Cluster, user: User) -> TlsOptions:
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


def _impersonation(user: User) -> Impersonation:
    return Impersonation(
        user.impersonate,
        user.impersonate_uid,
        tuple(user.impersonate_groups),
        {key: tuple(values) for key, values in user.impersonate_extra.items()},
    )


def _address(cluster: Cluster) -> ServerAddress:
    server = cluster.server
    if "://" not in server:
        # Source: client-go rest/url_utils.go, DefaultServerURL.
        secure = cluster.certificate_authority or cluster.certificate_authority_data or cluster.insecure_skip_tls_verify
        server = f"{'https' if secure else 'http'}://{server}"
    return ServerAddress.parse(server)


def _nothing_chosen(kubeconfig: KubeConfig, path: str | Path | None, environ: Mapping[str, str]) -> str:
    looked = ", ".join(map(str, kubeconfig_paths(environ) if path is None else [path]))
    if kubeconfig.contexts:
        return f"{looked}: no current-context (there are: {', '.join(sorted(kubeconfig.contexts))})"
    if path is not None:
        return f"{path}: it names no cluster"
    where = looked or "nowhere: neither KUBECONFIG nor HOME is set"
    return (
        f"no configuration: no kubeconfig (looked for: {where}), and this is not a pod: set KUBECONFIG, for "
        "`sampan up` to the kubeconfig in its data directory"
    )


def _missing(where: str, kind: str, name: str, known: Mapping[str, object]) -> str:
    if not name:
        return f"{where}: it names no {kind}"
    return f'{where}: {kind} "{name}" does not exist (there are: {", ".join(sorted(known)) or "none"})'
