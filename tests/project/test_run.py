"""`sampan run`: the operator of a project with a server in memory, or against a cluster."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sampan.client import Client, NotFound, connect
from sampan.core.clock import monotonic
from sampan.project.errors import ProjectError
from sampan.project.pyproject import project_at
from sampan.project.running.kinds import CRDS
from sampan.project.running.memory_server import memory_server
from sampan.project.running.rights import missing_rule
from sampan.project.running.session import RunOptions, run_project
from sampan.resource import Object
from tests.project.conftest import Sampan

WITHIN_S = 20.0


@dataclass(slots=True)
class Session:
    """A running project."""

    root: Path
    client: Client
    lines: list[str] = field(default_factory=list)

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text()
        assert old in text
        (self.root / path).write_text(text.replace(old, new))

    async def boat(self) -> Object:
        return await (await self.client.resource_for("boats")).get("example")

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(WITHIN_S):
            while not holds():  # noqa: ASYNC110  (a line of the session)
                await asyncio.sleep(0.02)

    async def until_reason(self, reason: str) -> None:
        async with asyncio.timeout(WITHIN_S):
            while reason not in str((await self.boat()).get("status")):  # noqa: ASYNC110  (in the server)
                await asyncio.sleep(0.02)

    async def until_line(self, text: str) -> str:
        await self.until(lambda: any(text in line for line in self.lines))
        return next(line for line in self.lines if text in line)


@pytest.fixture
def fleet(boats: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a kind."""
    sampan("create", "api", "--kind", "Boat", "--field", "length:int>0", folder=boats)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in [each for each in sys.modules if each.split(".")[0] == "boats"]:
        monkeypatch.delitem(sys.modules, name)
    return boats


@asynccontextmanager
async def running(root: Path, options: RunOptions = RunOptions()) -> AsyncIterator[Session]:
    """Run the project during the block."""
    stop, lines = asyncio.Event(), list[str]()
    task = asyncio.create_task(run_project(project_at(root), options, lines.append, stop))
    try:
        async with asyncio.timeout(WITHIN_S):
            while not any(line.startswith("running") for line in lines):
                await asyncio.wait({task}, timeout=0.02)
                if task.done():
                    await task
        async with connect(root / ".sampan/run/kubeconfig", field_manager="test") as client:
            yield Session(root, client, lines)
    finally:
        stop.set()
        await asyncio.wait({task}, timeout=WITHIN_S)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_saved_file_takes_effect_within_a_second_and_the_objects_stay(fleet: Path) -> None:
    async with running(fleet) as session:
        await session.until_reason("Reconciled")
        before = await session.boat()
        began = monotonic()
        session.edit("src/boats/boat/reconcile.py", 'reason="Reconciled"', 'reason="Launched"')
        await session.until_reason("Launched")
        took_s = monotonic() - began
        assert (await session.boat())["metadata"]["uid"] == before["metadata"]["uid"]
        assert any(line == f"export KUBECONFIG={fleet}/.sampan/run/kubeconfig" for line in session.lines)
        assert ((fleet / ".sampan/run/kubeconfig").stat().st_mode & 0o777) == 0o600
    assert took_s < 5.0, "the limit is one second on an idle machine"
    assert not (fleet / ".sampan/run/kubeconfig").exists()


async def test_a_narrowed_field_names_the_objects_that_would_break(fleet: Path) -> None:
    async with running(fleet) as session:
        for name in ("one", "two"):
            spec = {
                "apiVersion": "boats.example.com/v1",
                "kind": "Boat",
                "metadata": {"name": name},
                "spec": {"length": 5},
            }
            await (await session.client.resource_for("boats")).create(spec)
        session.edit("src/boats/boat/v1.py", "minimum=1", "minimum=3")
        line = await session.until_line("not reloaded")
        assert "boats/example in default: spec.length" in line
        assert "boats/one" not in line
        crd = await session.client.resource(CRDS).get("boats.boats.example.com")
        assert "minimum': 1" in str(crd["spec"])


async def test_a_syntax_error_is_reported_and_the_operator_continues(fleet: Path) -> None:
    async with running(fleet) as session:
        await session.until_reason("Reconciled")
        place = fleet / "src/boats/boat/reconcile.py"
        good = place.read_text()
        place.write_text(good + "def x(:\n")
        line = await session.until_line("not reloaded")
        assert "reconcile.py:" in line
        assert "SyntaxError" in line
        place.write_text(good.replace('reason="Reconciled"', 'reason="Repaired"'))
        await session.until_reason("Repaired")


WRITE = """
        maps = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", True)
        head = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": request.name}}
        await manager.client.resource(maps).apply(head)
"""
IMPORTS = """\
from sampan.core.gvk import GroupVersionResource
from sampan.resource import ResourceInfo
"""


async def test_as_deployed_names_the_missing_rule_and_a_rule_heals_it(fleet: Path) -> None:
    place = fleet / "src/boats/boat/reconcile.py"
    text = place.read_text().replace("from sampan.client", IMPORTS + "from sampan.client", 1)
    head, mark, tail = text.partition("        status.observed_generation")
    place.write_text(head + WRITE + mark + tail)
    async with running(fleet, RunOptions(as_deployed=True)) as session:
        line = await session.until_line("denied")
        rule = line.partition(": ")[2].partition(": ")[2]
        assert rule == '{apiGroups = [""], resources = ["configmaps"], verbs = ["patch"]}'
        wider = rule.replace('"patch"', '"patch", "create"')
        session.edit("pyproject.toml", "[tool.sampan]\n", f"[tool.sampan]\nrbac = [{wider}]\n")
        await session.until_reason("Reconciled")


async def test_as_deployed_runs_webhooks(fleet: Path, sampan: Sampan) -> None:
    assert not sampan("create", "webhook", "--kind", "Boat", folder=fleet).return_value
    place = fleet / "src/boats/boat/webhook.py"
    place.write_text(place.read_text().replace("    return []", '    return ["a tug is needed"]'))
    async with running(fleet, RunOptions(as_deployed=True)) as session:
        await session.until_reason("Reconciled")
        configurations = await session.client.resource_for("validatingwebhookconfigurations")
        async with asyncio.timeout(WITHIN_S):
            while "caBundle" not in str(await configurations.get("boats")):  # noqa: ASYNC110  (in the server)
                await asyncio.sleep(0.02)
        assert not [line for line in session.lines if "denied" in line]
        (webhook,) = (await configurations.get("boats"))["webhooks"]
        url = webhook["clientConfig"]["url"]
        assert url.startswith("https://127.0.0.1:")
        assert not url.startswith(("https://127.0.0.1:9443/", "https://127.0.0.1:0/")), "another project may use 9443"


@pytest.mark.parametrize("accepted", [True, False])
async def test_nothing_is_applied_to_a_cluster_before_the_diff_was_accepted(
    fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accepted: bool
) -> None:
    shown: list[str] = []

    def consent(diff: str) -> bool:
        shown.append(diff)
        return accepted

    async with memory_server(tmp_path / "cluster") as server, connect(server.kubeconfig) as client:
        monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig))
        stop, lines = asyncio.Event(), list[str]()
        task = asyncio.create_task(
            run_project(project_at(fleet), RunOptions("test", consent=consent), lines.append, stop)
        )
        async with asyncio.timeout(WITHIN_S):
            while not task.done() and not any(line.startswith("running") for line in lines):
                await asyncio.wait({task}, timeout=0.02)
        stop.set()
        if accepted:
            await task
            assert await client.resource(CRDS).get("boats.boats.example.com")
            assert (await (await client.resource_for("boats")).list()).items == []
        else:
            with pytest.raises(ProjectError, match="was not accepted"):
                await task
            with pytest.raises(NotFound):
                await client.resource(CRDS).get("boats.boats.example.com")
    assert "+kind: CustomResourceDefinition" in shown[0]


def test_the_missing_rule_of_another_message_is_empty() -> None:
    assert missing_rule("pods is forbidden: quota") == ""


def test_a_project_that_cannot_be_imported_is_one_error(fleet: Path, sampan: Sampan) -> None:
    (fleet / "src/boats/boat/v1.py").write_text("import absent_module\n")
    result = sampan("run", folder=fleet)
    assert "v1.py:1: ModuleNotFoundError" in str(result.exception)


async def test_a_sample_that_is_refused_is_applied_once_the_code_allows_it(fleet: Path) -> None:
    async with running(fleet) as session:
        session.edit("samples/boat.yaml", "length: 1", "length: 0")
        await session.until_line("samples/boat.yaml is not applied")
        session.edit("src/boats/boat/v1.py", "minimum=1", "minimum=0")
        async with asyncio.timeout(WITHIN_S):
            while (await session.boat())["spec"]["length"] != 0:  # noqa: ASYNC110  (in the server)
                await asyncio.sleep(0.02)
        await session.until_line("reloaded")
        assert not [line for line in session.lines if line.startswith("reloaded") and "samples" in line]
