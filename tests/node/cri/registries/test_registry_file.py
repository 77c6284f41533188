"""The registries file of a node."""

import json
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sampan.node.cri.registries.registry_file import RegistryFile

MIRROR = "mirrors: {docker.io: {endpoint: ['https://mirror']}}"
SECRET = "configs: {mirror: {auth: {username: u, password: secret}}}"


class Client:
    """Runtime that reads hosts.toml files from a directory."""

    def __init__(self, directory: str, name: str = "containerd") -> None:
        self.directory = directory
        self.name = name

    async def status_info(self) -> dict[str, str]:
        return {"config": json.dumps({"registry": {"configPath": self.directory}})}

    async def version(self) -> SimpleNamespace:
        return SimpleNamespace(runtime_name=self.name)


def registry_file(path: Path, directory: Path | str) -> RegistryFile:
    """Return the file of a node whose runtime reads from a directory."""
    client: Any = Client(str(directory))
    return RegistryFile(path / "registries.yaml", client)


def write(path: Path, text: str, mode: int = 0o600) -> None:
    """Write the file."""
    file = path / "registries.yaml"
    file.unlink(missing_ok=True)
    file.write_text(text)
    file.chmod(mode)


async def test_changes_of_the_file_reach_the_runtime(tmp_path: Path) -> None:
    found = registry_file(tmp_path, tmp_path / "certs.d")
    assert (await found.current(repair=True)).mirrors == {}
    assert not (tmp_path / "certs.d").exists()
    write(tmp_path, MIRROR)
    assert [each.host for each in (await found.current()).mirror("docker.io").endpoints] == ["mirror"]
    assert (tmp_path / "certs.d" / "docker.io" / "hosts.toml").exists()
    (tmp_path / "registries.yaml").unlink()
    assert (await found.current()).mirrors == {}
    assert not (tmp_path / "certs.d" / "docker.io").exists()


async def test_removed_files_of_the_runtime_are_written_again(tmp_path: Path) -> None:
    write(tmp_path, MIRROR)
    found = registry_file(tmp_path, f"{tmp_path / 'certs.d'}:/etc/other")
    await found.current()
    hosts = tmp_path / "certs.d" / "docker.io" / "hosts.toml"
    hosts.unlink()
    await found.current(repair=True)
    assert hosts.exists()


async def test_a_file_with_a_fault_changes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, MIRROR)
    found = registry_file(tmp_path, tmp_path / "certs.d")
    await found.current()
    write(tmp_path, "configs: {a: {auth: {password: *secret}}}")
    for _ in range(2):
        assert "docker.io" in (await found.current(repair=True)).mirrors
    assert caplog.text.count("keeping the registries of before") == 1
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    ("text", "mode", "warning"),
    [
        (SECRET, 0o644, "other users can read it"),
        (SECRET, 0o600, ""),
        (MIRROR, 0o644, ""),
        (MIRROR, 0o666, "other users can change"),
    ],
)
async def test_unsafe_modes_are_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str, mode: int, warning: str
) -> None:
    write(tmp_path, text, mode)
    with caplog.at_level(logging.WARNING):
        await registry_file(tmp_path, tmp_path / "certs.d").current()
    assert warning in caplog.text
    assert bool(caplog.text) is bool(warning)
    assert "secret" not in caplog.text


async def test_a_runtime_that_reads_no_files_is_reported_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, MIRROR)
    found = registry_file(tmp_path, "")
    for _ in range(2):
        await found.current(repair=True)
    assert caplog.text.count('config_path = "/etc/containerd/certs.d"') == 1


@pytest.mark.parametrize(("name", "is_written"), [("containerd", True), ("cri-o", False)])
async def test_containerd_that_does_not_report_its_directory_has_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_written: bool
) -> None:
    async def status_info(client: Client) -> dict[str, str]:
        return {"config": "{}"}

    monkeypatch.setattr(Client, "status_info", status_info)
    monkeypatch.setattr("sampan.node.cri.registries.registry_file._USUAL", str(tmp_path / "usual"))
    write(tmp_path, MIRROR)
    client: Any = Client("", name)
    await RegistryFile(tmp_path / "registries.yaml", client).current()
    assert (tmp_path / "usual" / "docker.io" / "hosts.toml").exists() is is_written
