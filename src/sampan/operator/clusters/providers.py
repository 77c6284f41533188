"""`ClusterProvider`: names the clusters of an operator, which may come and go."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from sampan.client.client import Client
from sampan.client.config import Config, ConfigOverrides
from sampan.client.config.load import load_kubeconfig, select
from sampan.client.errors import ConfigError

_log = logging.getLogger("sampan.clusters")

Targets = Mapping[str, Config | Client]
"""Clusters by name. The operator makes and closes the client of a `Config`; it only uses a `Client`."""


class ClusterProvider(Protocol):
    """Source of the clusters."""

    def clusters(self) -> AsyncGenerator[Targets, None]:
        """Yield all present clusters, at the start and after each change. A changed `Config` means a new connection."""
        ...


class ListedClusters:
    """Clusters that the program names itself. `add` and `remove` change them while the operator runs."""

    def __init__(self, targets: Targets) -> None:
        self._targets = dict(targets)
        self._changed = asyncio.Event()

    def add(self, name: str, target: Config | Client) -> None:
        """Add a cluster, or replace the one of this name."""
        self._targets[name] = target
        self._changed.set()

    def remove(self, name: str) -> None:
        """Remove a cluster. Raises `KeyError` if it is not listed."""
        del self._targets[name]
        self._changed.set()

    async def clusters(self) -> AsyncGenerator[Targets, None]:
        """Yield the clusters after each change."""
        while True:
            self._changed.clear()
            yield dict(self._targets)
            await self._changed.wait()


class KubeconfigContexts:
    """The contexts of kubeconfig files, each a cluster with the name of its context. The files are read again."""

    def __init__(self, path: str | Path | None = None, *, contexts: Sequence[str] = (), period_s: float = 30.0) -> None:
        """`path`: None for KUBECONFIG or ~/.kube/config. `contexts`: none for all. `period_s`: time between reads."""
        self._path = path
        self._contexts = tuple(contexts)
        self._period_s = period_s

    async def clusters(self) -> AsyncGenerator[Targets, None]:
        """Yield the clusters after each change. A file or context that cannot be used leaves the last state."""
        targets: dict[str, Config | Client] = {}
        while True:
            found = self._read(targets)
            if found != targets or not targets:
                targets = found
                yield targets
            await asyncio.sleep(self._period_s)

    def _read(self, last: Targets) -> dict[str, Config | Client]:
        try:
            kubeconfig = load_kubeconfig(self._path, os.environ)
        except ConfigError as error:
            _log.error("cannot read the kubeconfig, keeping its last clusters: %s", error)
            return dict(last)
        found: dict[str, Config | Client] = {}
        for name in self._contexts or kubeconfig.contexts:
            try:
                found[name] = select(kubeconfig, ConfigOverrides(context=name), os.environ)
            except ConfigError as error:
                _log.error("cluster %s cannot be used: %s", name, error)
                if name in last:
                    found[name] = last[name]
        return found
