"""Operators of kopf in `cluster.run`: their handlers, requests, end and errors."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sampan.testing import Cluster, ClusterOptions, field, kopf_operator
from sampan.testing.cluster import NeedsRealTime

kopf = pytest.importorskip("kopf")

HANDLERS = """
import kopf

seen = []


@kopf.on.create("configmaps", labels={"boat": kopf.PRESENT})
def paint(name, patch, memo, **_):
    seen.append(name)
    patch.metadata.annotations["painted"] = getattr(memo, "colour", "grey")
"""


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    cluster = Cluster(ClusterOptions(virtual=False))
    yield cluster
    await cluster.aclose()


@pytest.fixture
def handlers(tmp_path: Path) -> Path:
    path = tmp_path / "boat_handlers.py"
    path.write_text(HANDLERS)
    return path


def boat(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"boat": "yes"}}}


def painted(colour: str) -> Any:
    return field(".metadata.annotations.painted") == colour


async def test_the_handlers_of_a_file_run(cluster: Cluster, handlers: Path) -> None:
    cluster.run(kopf_operator(handlers, memo=kopf.Memo(colour="red")))
    await cluster.create(boat("ada"))
    await cluster.eventually("cm/ada", painted("red"))


async def test_the_handlers_of_a_registry_run(cluster: Cluster) -> None:
    registry = kopf.OperatorRegistry()

    @kopf.on.create("configmaps", registry=registry)  # type: ignore[untyped-decorator]  # as kopf declares it
    async def paint(patch: Any, **_: Any) -> None:
        patch.metadata.annotations["painted"] = "blue"

    cluster.run(kopf_operator(registry))
    await cluster.create(boat("ada"))
    await cluster.eventually("cm/ada", painted("blue"))


async def test_files_do_not_share_handlers(handlers: Path) -> None:
    before = kopf.get_default_registry()
    first, second = kopf_operator(handlers), kopf_operator(handlers)
    assert first.module is not second.module
    assert kopf.get_default_registry() is before


async def test_a_restart_loads_the_file_again(cluster: Cluster, handlers: Path) -> None:
    operator = kopf_operator(handlers)
    running = cluster.run(operator)
    await cluster.create(boat("ada"))
    await cluster.eventually("cm/ada", painted("grey"))
    await running.stop()
    await cluster.create(boat("bea"))
    running.restart()
    await cluster.eventually("cm/bea", painted("grey"))
    assert operator.module is not None
    assert operator.module.seen == ["bea"]


async def test_requests_have_the_name_of_the_operator(cluster: Cluster, handlers: Path) -> None:
    cluster.run(kopf_operator(handlers), name="painter")
    await cluster.create(boat("ada"))
    await cluster.eventually("cm/ada", painted("grey"))
    assert [each.verb for each in cluster.requests.by("painter").of("configmaps", "ada").writes][:1] == ["patch"]


async def test_an_operator_has_the_rights_of_its_user(cluster: Cluster, handlers: Path) -> None:
    cluster.run(kopf_operator(handlers), user="nobody")
    await cluster.eventually(lambda: [each for each in cluster.requests.by("operator").refused if each.code == 403])


async def test_a_failure_at_the_start_is_the_failure_of_the_test(cluster: Cluster) -> None:
    registry = kopf.OperatorRegistry()

    @kopf.on.startup(registry=registry)  # type: ignore[untyped-decorator]  # as kopf declares it
    def begin(**_: Any) -> None:
        raise kopf.PermanentError("no paint")

    cluster.run(kopf_operator(registry))
    with pytest.raises(Exception, match="handlers failed"):
        await cluster.eventually("cm/ada", painted("grey"))


async def test_stop_runs_the_cleanup_of_the_operator(cluster: Cluster) -> None:
    registry, order = kopf.OperatorRegistry(), []
    kopf.on.startup(registry=registry)(lambda **_: order.append("startup"))
    kopf.on.cleanup(registry=registry)(lambda **_: order.append("cleanup"))
    running = cluster.run(kopf_operator(registry))
    await cluster.eventually(lambda: order)
    await running.stop()
    assert order == ["startup", "cleanup"]


async def test_the_end_of_an_operator_ends_no_other_task(cluster: Cluster, handlers: Path) -> None:
    running, second = (cluster.run(kopf_operator(handlers), name=name) for name in ("one", "two"))
    await cluster.create(boat("ada"))
    await cluster.eventually("cm/ada", painted("grey"))
    younger = asyncio.create_task(asyncio.sleep(60))
    await running.stop()
    assert not younger.done()
    assert second.is_running
    younger.cancel()


async def test_a_crashed_operator_writes_nothing(cluster: Cluster, handlers: Path) -> None:
    running = cluster.run(kopf_operator(handlers))
    await cluster.create(boat("ada"))
    await cluster.eventually("cm/ada", painted("grey"))
    await running.crash()
    count = len(cluster.requests.by("operator"))
    await cluster.create(boat("bea"))
    await cluster.settled()
    assert len(cluster.requests.by("operator")) == count


async def test_signals_keep_their_handlers(cluster: Cluster, handlers: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    cluster.run(kopf_operator(handlers))
    await cluster.create(boat("ada"))
    await cluster.eventually("cm/ada", painted("grey"))
    assert signal.getsignal(signal.SIGTERM) is before


async def test_an_imported_module_runs_what_the_process_has_imported() -> None:
    module = ModuleType("some_handlers")
    assert kopf_operator(module).module is module


async def test_kopf_does_not_run_in_virtual_time(handlers: Path) -> None:
    async with Cluster(ClusterOptions(virtual=True)) as cluster:
        with pytest.raises(NeedsRealTime, match=r"an operator of kopf has connections .*time='real'"):
            cluster.run(kopf_operator(handlers))


def test_another_source_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a path, a module or a"):
        kopf_operator(3)


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match="there is no such file in "):
        kopf_operator(tmp_path / "absent.py")


def test_sampan_does_not_import_kopf(monkeypatch: pytest.MonkeyPatch, handlers: Path) -> None:
    monkeypatch.setitem(sys.modules, "kopf", None)
    with pytest.raises(ImportError, match="pip install kopf"):
        kopf_operator(handlers)
