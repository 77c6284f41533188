"""Programs that print credentials: real ones, in Python."""

import asyncio
import datetime as dt
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from sampan.client.config import Config, ExecConfig
from sampan.client.errors import CredentialError
from sampan.client.transports.credentials import Credentials
from sampan.client.transports.exec_plugin import ExecPlugin, cluster_info
from sampan.http.client.tls import ClientCertificate, TlsOptions

V1 = "client.authentication.k8s.io/v1"
V1BETA1 = "client.authentication.k8s.io/v1beta1"
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@dataclass
class Hands:
    """A clock that tests set."""

    time: dt.datetime = NOW

    def now(self) -> dt.datetime:
        return self.time


@dataclass
class Program:
    """A program in a separate folder; it counts its runs and keeps the environment, arguments and input of a run."""

    folder: Path

    def prints(self, status: Any = None, *, version: str = V1, code: int = 0, raw: str | None = None) -> ExecConfig:
        """A plug-in that prints an ExecCredential with this status; `{run}` in it becomes the number of the run."""
        response = {"apiVersion": version, "kind": "ExecCredential", "status": status}
        output = raw if raw is not None else json.dumps(response)
        script = self.folder / "plugin.py"
        script.write_text(
            "import os, pathlib, sys\n"
            f"folder = pathlib.Path({str(self.folder)!r})\n"
            "runs = len(list(folder.glob('told-*'))) + 1\n"
            "(folder / f'told-{runs}').write_text(os.environ['KUBERNETES_EXEC_INFO'])\n"
            "(folder / 'env').write_text(repr(dict(os.environ)) + repr(sys.argv[1:]) + repr(sys.stdin.read()))\n"
            f"text = {output!r}.replace('{{run}}', str(runs))\n"
            "sys.stdout.buffer.write(text.encode(errors='surrogateescape'))\n"
            f"sys.exit({code})\n"
        )
        return ExecConfig(version, sys.executable, ("-S", str(script)), interactive_mode="Never")

    @property
    def runs(self) -> int:
        return len(list(self.folder.glob("told-*")))

    def reported(self) -> Any:
        return json.loads((self.folder / "told-1").read_text())

    def saw(self) -> str:
        return (self.folder / "env").read_text()


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def source(plugin: ExecConfig, *, clock: Hands | None = None, cluster: dict[str, Any] | None = None) -> ExecPlugin:
    return ExecPlugin(plugin, cluster=cluster, environ={"INHERITED": "yes"}, clock=clock or Hands())


@pytest.mark.parametrize("version", [V1, V1BETA1])
async def test_a_token_is_printed_once_and_kept(program: Program, version: str) -> None:
    plugin = source(program.prints({"token": "t{run}"}, version=version))
    assert await plugin.current() == Credentials.bearer("t1")
    assert await plugin.current() == Credentials.bearer("t1")
    assert program.runs == 1
    assert program.reported() == {"apiVersion": version, "kind": "ExecCredential", "spec": {"interactive": False}}


async def test_concurrent_calls_share_one_run_of_the_plugin(program: Program) -> None:
    plugin = source(program.prints({"token": "t{run}"}))
    assert set(await asyncio.gather(*(plugin.current() for _ in range(5)))) == {Credentials.bearer("t1")}


async def test_expired_credentials_are_printed_again(program: Program) -> None:
    clock = Hands()
    plugin = source(program.prints({"token": "t{run}", "expirationTimestamp": "2026-01-01T01:00:00Z"}), clock=clock)
    assert await plugin.current() == Credentials.bearer("t1")
    clock.time = NOW + dt.timedelta(minutes=59)
    assert await plugin.current() == Credentials.bearer("t1")
    clock.time = NOW + dt.timedelta(minutes=60)
    assert await plugin.current() == Credentials.bearer("t2")


async def test_refused_credentials_are_renewed_once_for_all_callers(program: Program) -> None:
    plugin = source(program.prints({"token": "t{run}"}))
    refused = await plugin.current()
    assert set(await asyncio.gather(*(plugin.renewed(refused) for _ in range(3)))) == {Credentials.bearer("t2")}


async def test_a_certificate_may_be_printed(program: Program) -> None:
    plugin = source(program.prints({"clientCertificateData": "CERT", "clientKeyData": "KEY"}))
    assert await plugin.current() == Credentials(certificate=ClientCertificate(b"CERT", b"KEY"))


async def test_the_program_gets_environment_arguments_and_no_input(program: Program) -> None:
    plugin = program.prints({"token": "t"})
    await source(replace(plugin, args=(*plugin.args, "--x"), env={"ADDED": "too"})).current()
    saw = program.saw()
    assert all(part in saw for part in ("'INHERITED': 'yes'", "'ADDED': 'too'", "['--x']''"))


async def test_cluster_information_is_passed_to_a_plugin_that_requires_it(program: Program) -> None:
    plugin = replace(program.prints({"token": "t"}), provide_cluster_info=True)
    config = Config(
        "https://example.org",
        tls=TlsOptions(ca_data=b"CA", server_name="other"),
        exec_cluster_config={"audience": "x"},
        exec=plugin,
    )
    await source(plugin, cluster=cluster_info(config)).current()
    assert program.reported()["spec"]["cluster"] == {
        "server": "https://example.org",
        "tls-server-name": "other",
        "certificate-authority-data": "Q0E=",
        "config": {"audience": "x"},
    }


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "exit code": ({"status": {"token": "t"}, "code": 3}, "exited with code 3"),
    "not JSON": ({"raw": "hello"}, "not JSON"),
    "not text": ({"raw": '{"kind":"\udcff"}'}, "not JSON"),
    "not a credential": ({"raw": "{}"}, "not an ExecCredential"),
    "no status": ({"status": None}, "no status"),
    "nothing": ({"status": {}}, "neither a token nor"),
    "half a pair": ({"status": {"clientKeyData": "k"}}, "without a key"),
    "a token that is no text": ({"status": {"token": {"a": 1}}}, "status.token is not a string"),
    "a token that is a number": ({"status": {"token": 5}}, "status.token is not a string"),
    "a certificate that is no text": (
        {"status": {"clientCertificateData": ["x"], "clientKeyData": "k"}},
        "status.clientCertificateData is not a string",
    ),
    "a token with another header": ({"status": {"token": "a\r\nX: b"}}, "cannot be sent in a header"),
    "bad time": ({"status": {"token": "t", "expirationTimestamp": "soon"}}, "expirationTimestamp"),
}


@pytest.mark.parametrize(("printed", "message"), FAULTS.values(), ids=FAULTS)
async def test_a_program_that_fails_is_named(program: Program, printed: dict[str, Any], message: str) -> None:
    with pytest.raises(CredentialError, match=f"exec plugin {sys.executable}: .*{message}"):
        await source(program.prints(**printed)).current()


async def test_the_version_must_be_the_one_that_was_requested(program: Program) -> None:
    with pytest.raises(CredentialError, match=r"expected client\.authentication.k8s\.io/v1"):
        await source(replace(program.prints({"token": "t"}, version=V1BETA1), api_version=V1)).current()


async def test_a_program_that_is_missing_is_named_with_its_hint() -> None:
    plugin = ExecConfig(V1, "no-such-program", install_hint="brew install it", interactive_mode="Never")
    with pytest.raises(CredentialError, match="program not found\nbrew install it"):
        await source(plugin).current()


async def test_a_program_that_must_request_needs_a_terminal(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(CredentialError, match="not a terminal"):
        await source(replace(program.prints({"token": "t"}), interactive_mode="Always")).current()


async def test_a_run_that_is_cancelled_is_ended_and_another_may_follow(program: Program, tmp_path: Path) -> None:
    plugin = program.prints({"token": "t"})
    (tmp_path / "plugin.py").write_text("import time\ntime.sleep(60)\n")
    running = source(plugin)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await running.current()
    program.prints({"token": "t"})
    assert await running.current() == Credentials.bearer("t")


async def test_no_client_waits_for_what_a_program_that_was_ended_has_left_behind(
    program: Program, tmp_path: Path
) -> None:
    plugin = program.prints({"token": "t"})
    code = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(20)'])\n"
    (tmp_path / "plugin.py").write_text(code)
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await source(plugin).current()
    assert time.monotonic() - began < 10


async def test_a_program_that_prints_without_end_is_ended(program: Program, tmp_path: Path) -> None:
    plugin = program.prints({"token": "t"})
    (tmp_path / "plugin.py").write_text("while True:\n    print('x' * 1000)\n")
    with pytest.raises(CredentialError, match="output exceeds 1,048,576 bytes"):
        async with asyncio.timeout(60):
            await source(plugin).current()
