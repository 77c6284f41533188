"""Tests of `sampan generate clients`: the committed package of the Network example, and further kinds."""

import asyncio
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from network_clients import Clientset, InformerFactory
from network_operator.types import Network, NetworkSpec
from sampan.cli.main import main
from sampan.client import ListOptions, NotFound
from sampan.generate.clients import client_files
from sampan.generate.declared import load
from sampan.generate.files import changed, write
from sampan.informer import SharedInformerFactory
from sampan.resource import ObjectMeta
from sampan.resource.crd import crd_of
from tests.client.connected import connected
from tests.server.custom_resources import CRDS

ROOT = Path(__file__).parents[2]


def _network(name: str) -> Network:
    metadata = ObjectMeta(name=name, namespace="default")
    return Network(metadata=metadata, spec=NetworkSpec(cidr="10.0.0.0/16", gateway="10.0.0.1"))


def test_the_network_examples_clients_are_up_to_date() -> None:
    assert changed(client_files(load(["network_operator.types"]), ROOT / "examples/01-network/network_clients")) == []


async def test_the_clientset_reads_and_writes() -> None:
    async with connected() as (client, api):
        await api.create(CRDS, crd_of(Network))
        networks = Clientset(client).samplecrd_v1().networks("default")
        created = await networks.create(_network("x"))
        assert (await networks.get("x")).spec.cidr == "10.0.0.0/16"
        assert [each.metadata.name for each in await networks.list(ListOptions())] == ["x"]
        assert (await networks.update_status(created)).metadata.uid == created.metadata.uid
        await networks.delete("x")
        with pytest.raises(NotFound):
            await networks.get("x")


async def test_informer_and_lister_follow_changes() -> None:
    async with connected() as (client, api):
        await api.create(CRDS, crd_of(Network))
        created = await Clientset(client).samplecrd_v1().networks("default").create(_network("x"))
        factory = InformerFactory(SharedInformerFactory(client))
        networks = factory.samplecrd().v1().networks()
        informer = networks.informer()
        async with asyncio.TaskGroup() as tasks:
            await factory.factory.start(tasks)
            await informer.at_least(created.metadata.resource_version, timeout_s=10)
            assert [each.metadata.name for each in networks.lister().list()] == ["x"]
            found = networks.lister().networks("default").get("x")
            assert found is not None
            assert found.spec.gateway == "10.0.0.1"
            await factory.factory.shutdown()


def test_scale_scope_and_no_status_are_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    write(client_files(load(["tests.resource.kinds"]), tmp_path / "harbour_clients"))
    importlib.import_module("harbour_clients")
    module = sys.modules["harbour_clients.harbour_v1"]
    assert hasattr(module.BoatClient, "update_status")
    assert hasattr(module.BoatClient, "get_scale")
    assert not hasattr(module.BuoyClient, "update_status")


ANOTHER_BOAT = """
from sampan.resource import CustomResource, resource


@resource(group="harbour.example.com", version="v2", storage=False)
class Boat(CustomResource):
    feet: int = 0


@resource(group="harbour.example.org", version="v1")
class Buoy(CustomResource):
    depth: int = 0
"""


def test_each_version_of_a_kind_has_an_informer_and_a_lister(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "another_boat.py").write_text(ANOTHER_BOAT)
    write(client_files(load(["tests.resource.kinds", "another_boat"]), tmp_path / "fleet_clients"))
    clients = importlib.import_module("fleet_clients")
    old, new = importlib.import_module("tests.resource.kinds"), importlib.import_module("another_boat")

    class Factory:
        def informer_for(self, cls: type) -> type:
            return cls

    factory = clients.InformerFactory(Factory())
    harbour = factory.harbour_example_com()
    assert harbour.v1().boats().informer() is old.Boat
    assert harbour.v1beta1().boats().informer() is old.OldBoat
    assert harbour.v2().boats().informer() is new.Boat
    assert factory.harbour_example_com().v1().buoys().informer() is old.Buoy
    assert factory.harbour_example_org().v1().buoys().informer() is new.Buoy
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "-p", "fleet_clients"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": f"{tmp_path}:{ROOT}:{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


def test_the_command_writes_and_checks_files(tmp_path: Path) -> None:
    for arguments, code in ((["--check"], 1), ([], 0), (["--check"], 0)):
        with pytest.raises(SystemExit) as ended:
            main(["generate", "clients", str(tmp_path), "--from", "network_operator.types", *arguments])
        assert ended.value.code == code
