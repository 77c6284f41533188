"""`KubeconfigCluster`: the same tests against a real cluster (`pytest --cluster=kubeconfig`).

Each test gets a new namespace, which is the default of all its clients and is deleted at the end. The control loops are
those of the cluster. A method that needs the server in this process (time, states) skips the test, with a reason.
"""

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn
from unittest import SkipTest

from sampan.client import Client, ConfigOverrides, load_config
from sampan.client.identity import Impersonation
from sampan.client.stack import connect_transport
from sampan.client.transport import HttpRequest, HttpResponse, Transport
from sampan.component_base.resources import NAMESPACES
from sampan.testing.cluster import TEST, Cluster
from sampan.testing.cluster_options import ClusterOptions, State
from sampan.testing.requests import InterceptorChain


class OnlyInProcess(SkipTest):
    """The test needs a server in this process, so it is skipped."""


class KubeconfigCluster(Cluster):
    """A namespace of the cluster of a kubeconfig; `context` selects one of its contexts."""

    def __init__(self, options: ClusterOptions = ClusterOptions(), context: str = "") -> None:
        super().__init__(replace(options, virtual=False))
        self._config = load_config(overrides=ConfigOverrides(context=context))
        self._namespace = f"test-{uuid.uuid4().hex[:10]}"
        self._begun = False

    def client(self, user: str = "", *, groups: Sequence[str] = (), actor: str = TEST, namespace: str = "") -> Client:
        """Return a client of the cluster. A user is impersonated."""
        where = namespace or self._namespace
        key = (user, *groups, "", actor, where)
        if key not in self._clients:
            config = replace(self._config, impersonation=Impersonation(user, groups=tuple(groups)))
            transport = _Recorded(self, self._gate, actor, connect_transport(config))
            self._clients[key] = Client(transport, namespace=where, field_manager=actor)
        return self._clients[key]

    async def begin(self) -> None:
        """Create the namespace of the test."""
        if not self._begun:
            self._begun = True
            namespaces = self.admin().resource(NAMESPACES)
            await namespaces.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self._namespace}})

    async def aclose(self) -> None:
        """Delete the namespace, and close all connections. Raises the error of an operator that has failed."""
        for running in self._running:
            await running.stop()
        if self._begun:
            await self.admin().resource(NAMESPACES).delete(self._namespace)
        for client in self._clients.values():
            await client.aclose()
        self.check_operators()

    async def server(self) -> NoReturn:
        """Skip the test."""
        raise OnlyInProcess("the server is not in this process: run the test without --cluster")

    def _hint(self, resource: str) -> str:
        return ""

    def _check_serves(self, what: str) -> None:
        raise OnlyInProcess(f"{what} needs the address of a server in this process: run the test without --cluster")

    async def advance(self, **duration: float) -> None:
        """Skip the test."""
        raise OnlyInProcess("the clock of a real cluster cannot be moved: run the test without --cluster")

    async def advance_to(self, instant: dt.datetime | str) -> None:
        """Skip the test."""
        await self.advance()

    async def fork(self) -> State:
        """Skip the test."""
        raise OnlyInProcess("a real cluster cannot be copied: run the test without --cluster")


class _Recorded:
    """Transport that records requests, and creates the namespace before the first one."""

    def __init__(self, cluster: KubeconfigCluster, gate: InterceptorChain, actor: str, inner: Transport) -> None:
        self._cluster, self._gate, self._actor, self._inner = cluster, gate, actor, inner

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the response, whatever its code, when its head arrives."""
        await self._cluster.begin()
        return await self._gate.send(self._actor, request, self._inner)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()


def cluster_of(place: str, options: ClusterOptions) -> Any:
    """Return the cluster of `--cluster`: `kubeconfig` or `kubeconfig:CONTEXT`. Raises `ValueError`, `ConfigError`."""
    word, _, context = place.partition(":")
    if word != "kubeconfig":
        raise ValueError(f"--cluster is kubeconfig or kubeconfig:CONTEXT, not {place!r}")
    return KubeconfigCluster(options, context)
