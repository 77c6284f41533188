"""`ClusterProfiles`: the clusters of the ClusterProfile objects (`multicluster.x-k8s.io`) in the home cluster.

Source: kubernetes-sigs/cluster-inventory-api apis/v1alpha2/clusterprofile_types.go, KEP 4322.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any, Final

from sampan.client.config import Config, ConfigOverrides, ExecConfig
from sampan.client.config.kubeconfig import parse_kubeconfig
from sampan.client.config.load import select
from sampan.client.errors import ConfigError
from sampan.informer.handler import EventHandlerFuncs
from sampan.operator.clusters.providers import Targets
from sampan.operator.manager import Manager
from sampan.resource import Object

_log = logging.getLogger("sampan.clusters")

_RESOURCE: Final = "clusterprofiles.multicluster.x-k8s.io"
_CLUSTER_FIELDS: Final = (
    *("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url"),
    *("disable-compression", "extensions"),
)
"""Fields of a cluster that are taken from a profile. Paths of files are not: they would name files of the operator."""


class ClusterProfiles:
    """Clusters of ClusterProfiles, called `namespace/name`.

    The first access provider of a profile that `plugins` names is used: its program gets the credentials. Programs come
    from the operator only, never from an object.
    """

    def __init__(self, home: Manager, plugins: Mapping[str, ExecConfig], *, namespace: str = "") -> None:
        """`plugins`: the exec credential plugin of each access provider. `namespace`: "" for all."""
        self._home = home
        self._plugins = dict(plugins)
        self._namespace = namespace

    async def clusters(self) -> AsyncGenerator[Targets, None]:
        """Yield the clusters after each change. Raises `NoMatch` if the home cluster has no ClusterProfiles."""
        profiles = await self._home.client.direct.resource_for(_RESOURCE, namespace=self._namespace)
        informer = self._home.informer_for(profiles.info)
        changed = asyncio.Event()

        def note(*_: object) -> None:
            changed.set()

        registration = informer.add_handler(EventHandlerFuncs(add=note, update=note, delete=note))
        try:
            await registration.synced()
            while True:
                changed.clear()
                yield self._targets(informer.lister().list())
                await changed.wait()
        finally:
            registration.remove()

    def _targets(self, profiles: list[Object]) -> Targets:
        found: dict[str, Config] = {}
        for profile in profiles:
            metadata = profile["metadata"]
            if self._namespace not in ("", metadata.get("namespace")):
                continue
            name = f"{metadata.get('namespace', '')}/{metadata['name']}"
            try:
                config = self._config(name, profile)
            except ConfigError as error:
                _log.error("cluster %s cannot be used: %s", name, error)
                continue
            if config is not None:
                found[name] = config
        return found

    def _config(self, name: str, profile: Object) -> Config | None:
        """Return the configuration of a profile; None without a known access provider. Raises `ConfigError`."""
        for provider in (profile.get("status") or {}).get("accessProviders") or []:
            plugin = self._plugins.get(provider.get("name", ""))
            if plugin is None:
                continue
            given = provider.get("cluster") or {}
            cluster = {field: given[field] for field in _CLUSTER_FIELDS if field in given}
            document: dict[str, Any] = {
                "clusters": [{"name": name, "cluster": cluster}],
                "users": [{"name": name, "user": {"exec": _exec(plugin)}}],
                "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            }
            where = Path(f"ClusterProfile {name}")
            return select(parse_kubeconfig(document, where), ConfigOverrides(context=name), os.environ)
        _log.info("cluster %s has no access provider of the operator", name)
        return None


def _exec(plugin: ExecConfig) -> dict[str, Any]:
    return {
        "apiVersion": plugin.api_version,
        "command": plugin.command,
        "args": list(plugin.args),
        "env": [{"name": name, "value": value} for name, value in plugin.env.items()],
        "installHint": plugin.install_hint,
        "provideClusterInfo": plugin.provide_cluster_info,
        "interactiveMode": "Never",
    }
