"""`main` runs a whole operator: a process with flags, metrics, probes, log and signals."""

import asyncio
import json
import signal
import ssl
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path
from urllib.request import urlopen

import pytest

from sampan.core.clock import monotonic
from sampan.core.extras import MissingExtra
from sampan.operator import OperatorSettings, main
from sampan.operator.process import start
from sampan.testing import Cluster, ClusterOptions
from sampan.testing.servers.serve import Served
from tests.ports import free_port, free_ports

PROGRAM = "tests.operator.process.operator_program"
BOX = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "box", "labels": {"copy": ""}}}
WITHIN_S = 60.0


@dataclass
class Program:
    """A running operator."""

    process: Process
    probes: int
    metrics: int

    async def ready(self) -> None:
        deadline = monotonic() + WITHIN_S
        while monotonic() < deadline:
            try:
                if await asyncio.to_thread(self._probe) == 200:
                    return
            except OSError:
                await asyncio.sleep(0.1)
        raise AssertionError("the operator is not ready")

    def _probe(self) -> int:
        with urlopen(f"http://127.0.0.1:{self.probes}/readyz", timeout=WITHIN_S) as response:
            code: int = response.status
            return code

    async def get(self, path: str, token: str = "") -> tuple[int, str]:
        return await asyncio.to_thread(self._get, path, token)

    def _get(self, path: str, token: str) -> tuple[int, str]:
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        connection = HTTPSConnection("127.0.0.1", self.metrics, context=tls, timeout=WITHIN_S)
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        response = connection.getresponse()
        found = response.status, response.read().decode()
        connection.close()
        return found

    async def stop(self) -> tuple[int, list[dict[str, str]]]:
        """Send SIGTERM and return the exit code and the lines of the log."""
        self.process.send_signal(signal.SIGTERM)
        _, printed = await asyncio.wait_for(self.process.communicate(), WITHIN_S)
        assert self.process.returncode is not None
        return self.process.returncode, [json.loads(line) for line in printed.splitlines()]


async def copied(cluster: Cluster) -> None:
    deadline = monotonic() + WITHIN_S
    while (await cluster.get("cm/box")).get("data", {}).get("copied") != "yes":
        assert monotonic() < deadline, "the operator has not reconciled"
        await asyncio.sleep(0.05)


@asynccontextmanager
async def program(served: Served, *arguments: str, environ: Mapping[str, str] = {}) -> AsyncIterator[Program]:
    probes, metrics = free_ports(2)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        PROGRAM,
        f"--health-probe-bind-address=127.0.0.1:{probes}",
        f"--metrics-bind-address=127.0.0.1:{metrics}",
        "--log-format=json",
        *arguments,
        env={**served.environment(), **environ},
        stderr=PIPE,
        cwd=Path(__file__).parents[3],
    )
    try:
        yield Program(process, probes, metrics)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_an_operator_with_main_runs_from_start_to_sigterm() -> None:
    cluster = Cluster(ClusterOptions(virtual=False))
    async with cluster.serve() as admin, cluster.serve("reader") as reader, program(admin, "--leader-elect") as running:
        await running.ready()
        await cluster.apply(BOX)
        await copied(cluster)
        refused = [(await running.get("/metrics"))[0], (await running.get("/metrics", reader.token))[0]]
        code, text = await running.get("/metrics", admin.token)
        absent = (await running.get("/debug/pprof/", admin.token))[0]
        exit_code, lines = await running.stop()
    await cluster.aclose()
    assert (refused, code, absent, exit_code) == ([401, 403], 200, 404, 0)
    assert 'controller_runtime_reconcile_total{controller="boxes",result="success"}' in text
    assert "sampan_event_loop_delay_seconds_count" in text
    assert [line["msg"] for line in lines][-1] == "operator stopped"
    assert any(line["msg"].startswith("lease boxes released") for line in lines)


async def test_a_blocking_call_is_named_in_the_log() -> None:
    cluster = Cluster(ClusterOptions(virtual=False))
    async with cluster.serve() as admin, program(admin, environ={"SAMPAN_BLOCK": "0.6"}) as running:
        await running.ready()
        await cluster.apply(BOX)
        await copied(cluster)
        _, lines = await running.stop()
    await cluster.aclose()
    blocked = [line for line in lines if line["msg"] == "event loop blocked" and line.get("request") == "default/box"]
    assert blocked
    assert "operator_program.py" in blocked[0]["stack"]


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        ({"KUBECONFIG": "/absent", "HOME": "/absent"}, "operator boats stopped: ConfigError: no configuration"),
        ({"KUBECONFIG": "closed"}, "operator boats stopped: cannot reach the server; is the kubeconfig right?"),
    ],
    ids=["no kubeconfig", "no server"],
)
def test_a_failed_start_ends_with_the_cause(
    environ: dict[str, str],
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    closed = tmp_path / "closed"
    closed.write_text(
        "current-context: c\n"
        f"clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:{free_port()}'}}}}]\n"
        "contexts: [{name: c, context: {cluster: c}}]\n"
    )
    monkeypatch.setattr(start, "set_up_log", lambda settings: None)
    for name, value in environ.items():
        monkeypatch.setenv(name, str(closed) if value == "closed" else value)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(
            lambda manager: None, name="boats", arguments=["--metrics-bind-address=0", "--health-probe-bind-address=0"]
        )
    assert ended.value.code == 1
    assert caplog.messages[-1].startswith(text)


def test_tracing_without_its_extra_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(module: str, **_: object) -> None:
        raise MissingExtra("needs opentelemetry")

    monkeypatch.setattr(start, "import_extra", absent)
    with pytest.raises(MissingExtra):
        start._tracer_of(OperatorSettings(tracing_endpoint="127.0.0.1:1"), "boats")
