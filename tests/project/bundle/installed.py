"""An operator of a project that runs in a test with its manifests: their objects, arguments, account and webhooks."""

import datetime as dt
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from sampan.client.config import Config
from sampan.operator import Manager
from sampan.operator.process.start import prepared
from sampan.operator.webhook import WebhookServer
from sampan.project.bundle.objects import OperatorObjects, operator_objects
from sampan.project.bundle.settings import bundle_settings
from sampan.project.pyproject import project_at
from sampan.registry.webhook.services import ServiceAddress, ServiceResolver
from sampan.resource import Object
from sampan.testing import Cluster, ClusterOptions, run_virtual

USER = "system:serviceaccount:boats-system:boats"
GROUPS = ("system:serviceaccounts", "system:serviceaccounts:boats-system", "system:authenticated")
_OF_PODS = ("Deployment", "NetworkPolicy", "PodDisruptionBudget")
_LOCAL = ("--health-probe-bind-address=0", "--metrics-bind-address=127.0.0.1:0")


def found_in(root: Path, **changes: Any) -> OperatorObjects:
    """Return the objects of a project."""
    return operator_objects(bundle_settings(project_at(root), changes))


@asynccontextmanager
async def installed(
    found: OperatorObjects, objects: Sequence[Object], monkeypatch: pytest.MonkeyPatch, admission: str = ""
) -> AsyncIterator[tuple[Cluster, Manager]]:
    """Apply the objects, except those of Pods, and run the operator in this process during the block."""
    async with Cluster(ClusterOptions(admission=admission, allow_errors=True, leaks=("",))) as cluster:
        for obj in objects:
            if obj["kind"] not in _OF_PODS:
                await cluster.apply(obj)
        client = cluster.client(USER, groups=GROUPS, actor="operator", namespace=found.settings.namespace)
        config = Config("https://cluster", namespace=found.settings.namespace)
        arguments = [*found.operator.arguments, *_LOCAL]
        manager = (await prepared(found.operator.start, arguments, config, client)).manager
        for server in (each for each in manager.runnables if isinstance(each, WebhookServer)):
            _be_the_endpoint(server, monkeypatch)
        cluster.run(manager)
        await cluster.settled()
        yield cluster, manager


def _be_the_endpoint(server: WebhookServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Listen on a free port, and be the only endpoint of all Services; endpoints on loopback are invalid."""
    server.options = replace(server.options, host="127.0.0.1", port=0)
    monkeypatch.setattr(
        ServiceResolver, "__call__", lambda self, namespace, name, port: [ServiceAddress("127.0.0.1", server.port)]
    )


def today(test: Callable[[Path, pytest.MonkeyPatch], Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in virtual time that begins now, because TLS compares certificates with the time of the machine."""

    @wraps(test)
    def run(harbour: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        run_virtual(test(harbour, monkeypatch), dt.datetime.now(dt.UTC))

    return run
