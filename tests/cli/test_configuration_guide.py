"""docs/configuration.md: its example runs, and its reference is complete."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from sampan.cli.config import config_command
from tests.cli.configuration_reference import GUIDE, HEADING, reference
from tests.cli.server import Server, running

FILES = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", GUIDE.read_text(), re.DOTALL))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the example into a new working directory."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(f"# {name}\n{text}")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "sampan.yaml"


def flags(server: Server) -> dict[str, str]:
    text = server.get("/flagz", server.token)[1].decode()
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def test_server_starts_from_the_file(file: Path) -> None:
    with running(file.parent / "data", "--config", str(file)) as server:
        found = flags(server)
        assert (found["request-timeout"], found["controllers"]) == ("1m30s", "")  # the command line has --controllers=
        assert found["audit-log-path"] == str(file.parent / "audit.log")
        assert server.get("/api/v1/namespaces", server.token)[0] == 200
        assert "/api/v1/namespaces" in (file.parent / "audit.log").read_text()


def test_effective_values_are_as_the_guide_shows(file: Path) -> None:
    shown = CliRunner().invoke(config_command, ["--config", file.name, "--port", "8443"]).stdout
    lines = [f"    # {line}" for line in shown.splitlines() if re.match("(port|storage):", line)]
    assert "\n".join(lines) in GUIDE.read_text()


def test_error_of_the_guide_is_that_of_the_command(file: Path) -> None:
    file.write_text("bind: 127.0.0.1\nprot: 1\n")
    output = CliRunner().invoke(config_command, ["--config", file.name]).output
    shown = re.search(r"sampan: error: …\S+\.yaml(:2: .*)", GUIDE.read_text())
    assert shown is not None
    assert f"{file.name}{shown[1]}" in output


def test_reference_is_that_of_the_settings() -> None:
    text = GUIDE.read_text()
    written = text[text.index(HEADING) :]
    assert written == reference(), "run: python -m tests.cli.configuration_reference"
