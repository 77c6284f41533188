"""A server for the commands, and a way to run them as a user does."""

import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sampan.cli.main import main
from tests.cli.server import Server, running


@dataclass(frozen=True, slots=True)
class Done:
    """Result of a command."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines of its output."""
        return self.out.splitlines()


Run = Callable[..., Done]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of our own, for all these tests."""
    with running(tmp_path_factory.mktemp("cli") / "data") as found:
        yield found


@pytest.fixture
def run(server: Server, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs `sampan …` in this process; `stdin` is what it reads."""
    monkeypatch.setenv("KUBECONFIG", str(server.data / "kubeconfig"))

    def command(*arguments: str, stdin: str = "") -> Done:
        reading, writing = os.pipe()
        os.write(writing, stdin.encode())
        os.close(writing)
        with os.fdopen(reading) as source, monkeypatch.context() as patched:
            patched.setattr("sys.stdin", source)
            with pytest.raises(SystemExit) as ended:
                main(arguments)
        observed = capfd.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return Done(code, observed.out, observed.err)

    return command


@pytest.fixture
def namespace(run: Run) -> str:
    """A namespace of the test's own."""
    name = f"ns-{uuid.uuid4().hex[:8]}"
    run("apply", "-f", "-", stdin=f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n")
    return name


@pytest.fixture
def manifest(tmp_path: Path) -> Callable[[str], str]:
    """Writes a manifest; gives its path."""

    def write(text: str, name: str = "manifest.yaml") -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write
