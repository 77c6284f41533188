"""Images go to a real registry and come back from it: without a login, with a password and with tokens."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.registry.servers import PASSWORD, PROGRAM, RealRegistry, running_registry
from tests.machines import require_program
from tests.project.image.projects import write_project

pytestmark = pytest.mark.e2e

LOGINS = ("htpasswd", "token")


@pytest.fixture
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RealRegistry]:
    """Return a registry; the parameter is its authentication."""
    require_program(PROGRAM)
    (tmp_path / "registry").mkdir()
    with running_registry(tmp_path / "registry", request.param) as found:
        yield found


class Builder:
    """Runs `sampan build --push`, in a new home directory. The user is logged in."""

    def __init__(self, folder: Path, registry: RealRegistry) -> None:
        self.project = write_project(folder / "boats")
        self._registry = registry
        self._home = folder / "home"
        self._home.mkdir()
        self.log_in(PASSWORD)

    def log_in(self, password: str) -> None:
        self._registry.log_in(self._home / "docker", password=password)

    def push(self, name: str, *options: str) -> "subprocess.CompletedProcess[str]":
        """Build and push the image of this name on the registry."""
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self._home),
            "DOCKER_CONFIG": str(self._home / "docker"),
            "XDG_CACHE_HOME": str(self._home / "cache"),
        }
        full = f"{self._registry.host}/{name}"
        command = [sys.executable, "-m", "sampan", "build", "--push", "--name", full, *options]
        return subprocess.run(command, cwd=self.project, env=environment, capture_output=True, text=True, check=False)

    def pushed(self, name: str, *options: str) -> str:
        """Push, and return the digest that was printed."""
        done = self.push(name, *options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip().rpartition("@")[2]


@pytest.fixture
def builder(tmp_path: Path, registry: RealRegistry) -> Builder:
    return Builder(tmp_path, registry)


@pytest.mark.parametrize("registry", ["none", *LOGINS], indirect=True)
def test_the_registry_has_the_image_with_the_printed_digest(builder: Builder, registry: RealRegistry) -> None:
    digest = builder.pushed("team/boats:1")
    assert registry.tag("team/boats", "1") == digest


@pytest.mark.parametrize("registry", ["none", *LOGINS], indirect=True)
def test_a_pushed_image_is_the_base_of_another(builder: Builder, registry: RealRegistry) -> None:
    digest = builder.pushed("team/boats:1")
    builder.pushed("team/fleet:1", "--base", f"{registry.host}/team/boats@{digest}")
    assert len(registry.layers("team/fleet", "1")) > len(registry.layers("team/boats", "1"))


@pytest.mark.parametrize("registry", ["none"], indirect=True)
def test_a_changed_package_sends_one_layer(builder: Builder, registry: RealRegistry) -> None:
    builder.pushed("team/boats:1")
    (builder.project / "src/boats/data.json").write_text('{"crew": 4}\n')
    builder.pushed("team/boats:2")
    first, second = registry.layers("team/boats", "1"), registry.layers("team/boats", "2")
    assert first[:-1] == second[:-1]
    assert first[-1] != second[-1]


@pytest.mark.parametrize("registry", LOGINS, indirect=True)
def test_a_wrong_password_is_one_error_and_nothing_is_pushed(builder: Builder, registry: RealRegistry) -> None:
    builder.log_in("wrong")
    done = builder.push("team/boats:1")
    assert done.returncode == 1
    error = done.stderr.strip().splitlines()[-1]
    assert error.startswith("sampan: error: ")
    assert registry.host in error
    assert "Traceback" not in done.stderr
    assert registry.blobs == []


@pytest.mark.parametrize("registry", ["none"], indirect=True)
def test_a_registry_that_is_gone_is_one_error(builder: Builder, registry: RealRegistry) -> None:
    registry.process.kill()
    registry.process.wait()
    done = builder.push("team/boats:1")
    assert done.returncode == 1
    assert registry.host in done.stderr.strip().splitlines()[-1]
    assert "Traceback" not in done.stderr
