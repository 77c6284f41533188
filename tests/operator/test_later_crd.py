"""Operators that wait for their CRD, and reconcilers that are plain functions."""

import threading

import msgspec
import pytest

from sampan.operator import Builder, Manager, Request
from sampan.resource import CustomResource, resource
from sampan.testing import Cluster
from tests.operator.cluster import CONFIG_MAPS


class BoatSpec(msgspec.Struct):
    length: int


@resource(group="harbour.example.com", version="v1")
class Boat(CustomResource):
    spec: BoatSpec


@pytest.mark.cluster(allow_errors=True)
async def test_an_operator_waits_for_its_crd(cluster: Cluster) -> None:
    found: list[str] = []

    def set_up(manager: Manager) -> None:
        async def reconcile(request: Request) -> None:
            found.append(request.name)

        Builder(manager).for_(Boat).complete(reconcile)

    cluster.run(set_up)
    await cluster.advance(seconds=60)
    await cluster.crds(Boat)
    await cluster.create(cluster.build(Boat, "junk", spec={"length": 40}))
    await cluster.eventually(lambda: found == ["junk"])


@pytest.mark.cluster(time="real")
async def test_a_plain_function_reconciles_in_a_thread(cluster: Cluster) -> None:
    threads: dict[str, bool] = {}

    def set_up(manager: Manager) -> None:
        def reconcile(request: Request) -> None:
            threads[request.name] = threading.current_thread() is not threading.main_thread()

        Builder(manager).for_(CONFIG_MAPS).complete(reconcile)

    cluster.run(set_up)
    await cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box"}})
    await cluster.eventually(lambda: threads.get("box") is True)
