"""The load of a soak. It deletes everything that it creates, so that the cluster has the same size at the end.

Concurrency: one task runs the parts of a round one after the other. Only the connections of a wave are concurrent.
"""

import asyncio
import itertools
import ssl
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Final

from benchmarks.connection import Target
from sampan.client import Client, ClientError, DeleteOptions, MergePatch, deleted, json_path, wait_for
from sampan.core.gvk import GroupVersionResource
from sampan.resource import Object, ResourceInfo

_WAIT_S: Final = 60.0
_GROUP: Final = "soak.example.com"
_CREATED_AT_ONCE: Final = 10


def _info(group: str, version: str, resource: str, kind: str, *, namespaced: bool = True) -> ResourceInfo:
    return ResourceInfo(GroupVersionResource(group, version, resource), kind, namespaced)


NAMESPACES: Final = _info("", "v1", "namespaces", "Namespace", namespaced=False)
CONFIG_MAPS: Final = _info("", "v1", "configmaps", "ConfigMap")
SERVICES: Final = _info("", "v1", "services", "Service")
PODS: Final = _info("", "v1", "pods", "Pod")
DEPLOYMENTS: Final = _info("apps", "v1", "deployments", "Deployment")
JOBS: Final = _info("batch", "v1", "jobs", "Job")
CRDS: Final = _info(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)


@dataclass
class Load:
    """The churn on one server, with counts of its rounds and errors."""

    client: Client
    target: Target
    connections: int
    """TLS connections of a wave."""
    rounds: int = 0
    errors: int = 0
    last_error: str = ""

    def __post_init__(self) -> None:
        self._parts = itertools.cycle(PARTS)

    async def run(self, seconds: float, pause_s: float, cycles_max: int) -> None:
        """Run the parts for this number of seconds, with a pause after each; nothing more after `cycles_max` rounds.

        A part that fails is counted, and the next one runs. What the processes hold depends on the rate of the load,
        so the rate should not depend on what else the machine does.
        """
        loop = asyncio.get_running_loop()
        end, last = loop.time() + seconds, self.rounds + cycles_max
        while loop.time() < end:
            if self.rounds == last:
                await asyncio.sleep(end - loop.time())
                return
            part = next(self._parts)
            try:
                await part(self)
            except (ClientError, OSError) as error:
                self.errors += 1
                self.last_error = f"{part.__name__}: {type(error).__name__}: {error}"
            self.rounds += part is PARTS[-1]
            await asyncio.sleep(pause_s)


async def workloads(load: Load) -> None:
    """Create a namespace with a Deployment, a Service and a Job. Delete it once the Pods are ready and updated."""
    namespace = await _namespace(load)
    client = load.client
    try:
        deployments = client.resource(DEPLOYMENTS, namespace=namespace)
        await client.resource(SERVICES, namespace=namespace).create(_service())
        await deployments.create(_deployment(3))
        await client.resource(JOBS, namespace=namespace).create(_job())
        await wait_for(deployments, "web", json_path("{.status.readyReplicas}", 3), timeout_s=_WAIT_S)
        await deployments.patch("web", MergePatch({"spec": {"replicas": 1}}))
        await deployments.patch("web", MergePatch({"spec": {"template": {"metadata": {"labels": {"round": "2"}}}}}))
        await wait_for(deployments, "web", json_path("{.status.updatedReplicas}", 1), timeout_s=_WAIT_S)
    finally:
        await _remove(client, namespace)


async def objects(load: Load) -> None:
    """Create, change, read and delete ConfigMaps while watches of them start and end."""
    namespace = await _namespace(load)
    maps = load.client.resource(CONFIG_MAPS, namespace=namespace)
    try:
        async with AsyncExitStack() as stack:
            for _ in range(_CREATED_AT_ONCE):
                events = await stack.enter_async_context(aclosing(maps.watch()))
                await anext(events)
            for number in range(_CREATED_AT_ONCE):
                await maps.create(_config_map(f"map-{number}"))
                await maps.patch(f"map-{number}", MergePatch({"data": {"key": "changed"}}))
            await maps.list_all(page_size=3)
            await anext(events)
        await maps.delete_collection()
    finally:
        await _remove(load.client, namespace)


async def custom_resources(load: Load) -> None:
    """Create a CRD with a unique name and some objects, then delete the CRD."""
    plural = f"things{load.rounds}"
    kind = f"Thing{load.rounds}"
    crds = load.client.resource(CRDS)
    await crds.create(_crd(plural, kind))
    try:
        things = load.client.resource(_info(_GROUP, "v1", plural, kind), namespace="default")
        for number in range(_CREATED_AT_ONCE):
            metadata = {"name": f"thing-{number}"}
            body: Object = {"apiVersion": f"{_GROUP}/v1", "kind": kind, "metadata": metadata, "spec": {"size": number}}
            await things.create(body)
        async with aclosing(things.watch()) as events:
            await anext(events)
        await things.delete("thing-0")
    finally:
        await crds.delete(f"{plural}.{_GROUP}")
        await wait_for(crds, f"{plural}.{_GROUP}", deleted(), timeout_s=_WAIT_S)


async def connections(load: Load) -> None:
    """Open a wave of concurrent TLS connections, each with one request."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    gate = asyncio.Semaphore(16)
    writers: list[asyncio.StreamWriter] = []

    async def call() -> None:
        async with gate:
            reader, writer = await asyncio.open_connection("127.0.0.1", load.target.port, ssl=context)
            writers.append(writer)
            head = f"GET /api/v1/namespaces HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {load.target.token}\r\n\r\n"
            writer.write(head.encode())
            await reader.readuntil(b"\r\n\r\n")

    try:
        await asyncio.gather(*(call() for _ in range(load.connections)))
    finally:
        for writer in writers:
            writer.transport.abort()


PARTS: Final = (workloads, objects, custom_resources, connections)


async def _namespace(load: Load) -> str:
    body: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "soak-"}}
    made = await load.client.resource(NAMESPACES).create(body)
    return str(made["metadata"]["name"])


async def _remove(client: Client, namespace: str) -> None:
    namespaces = client.resource(NAMESPACES)
    await namespaces.delete(namespace, DeleteOptions(propagation_policy="Background"))
    await wait_for(namespaces, namespace, deleted(), timeout_s=_WAIT_S)


def _config_map(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": "x" * 2000}}


def _service() -> Object:
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": spec}


def _deployment(replicas: int) -> Object:
    pod = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


def _job() -> Object:
    pod_spec = {"restartPolicy": "Never", "containers": [{"name": "work", "image": "work"}]}
    annotations = {"sampan.dev/complete-after": "100ms"}
    spec = {"template": {"metadata": {"annotations": annotations}, "spec": pod_spec}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "work"}, "spec": spec}


def _crd(plural: str, kind: str) -> Object:
    spec = {"type": "object", "properties": {"size": {"type": "integer"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{_GROUP}"},
        "spec": {
            "group": _GROUP,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
