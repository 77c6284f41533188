"""Credentials of docker's files and helpers."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from sampan.oci.credentials import RegistryCredentials, credentials_for
from sampan.oci.errors import OciError


def write(place: Path, config: Any) -> dict[str, str]:
    """Write a docker configuration, and return the environment that names it."""
    place.mkdir(exist_ok=True)
    (place / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))
    return {"DOCKER_CONFIG": str(place)}


def encoded(text: str) -> str:
    """Return base64, as in `auth`."""
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("key", ["registry.test", "https://registry.test", "https://registry.test/v2/"])
def test_user_and_password_are_those_of_the_registry(key: str, tmp_path: Path) -> None:
    environment = write(tmp_path, {"auths": {key: {"auth": encoded("me:pass:word")}, "other.test": {}}})
    assert credentials_for("registry.test", environment) == RegistryCredentials("me", "pass:word")
    assert credentials_for("other.test", environment) is None


def test_docker_hub_has_the_name_of_its_first_version(tmp_path: Path) -> None:
    environment = write(tmp_path, {"auths": {"https://index.docker.io/v1/": {"auth": encoded("me:x")}}})
    assert credentials_for("docker.io", environment) == RegistryCredentials("me", "x")


def test_an_identity_token_is_found(tmp_path: Path) -> None:
    environment = write(tmp_path, {"auths": {"registry.test": {"identitytoken": "t"}}})
    assert credentials_for("registry.test", environment) == RegistryCredentials(identity_token="t")


def test_without_a_file_there_are_no_credentials(tmp_path: Path) -> None:
    assert credentials_for("registry.test", {"HOME": str(tmp_path)}) is None


def test_the_file_of_podman_is_read_first(tmp_path: Path) -> None:
    environment = write(tmp_path, {"auths": {"registry.test": {"auth": encoded("docker:x")}}})
    podman = tmp_path / "auth.json"
    podman.write_text(json.dumps({"auths": {"registry.test": {"auth": encoded("podman:x")}}}))
    found = credentials_for("registry.test", {**environment, "REGISTRY_AUTH_FILE": str(podman)})
    assert found == RegistryCredentials("podman", "x")


@pytest.mark.parametrize("content", ["{", "[]", '{"auths": {"registry.test": {"auth": "%%%"}}}'])
def test_a_damaged_file_is_named(content: str, tmp_path: Path) -> None:
    with pytest.raises(OciError, match=r"config\.json"):
        credentials_for("registry.test", write(tmp_path, content))


def test_a_credential_helper_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper(tmp_path, 'read host; echo "{\\"Username\\": \\"$host\\", \\"Secret\\": \\"s\\"}"', monkeypatch)
    environment = write(tmp_path / "config", {"credHelpers": {"registry.test": "tests"}})
    assert credentials_for("registry.test", environment) == RegistryCredentials("registry.test", "s")


@pytest.mark.parametrize(
    ("script", "reason"),
    [("echo broken >&2; exit 1", "docker-credential-tests failed: broken"), ("echo x", "printed no JSON")],
)
def test_a_helper_that_fails_is_an_error(
    script: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper(tmp_path, script, monkeypatch)
    with pytest.raises(OciError, match=reason):
        credentials_for("registry.test", write(tmp_path / "config", {"credsStore": "tests"}))


def test_a_helper_without_an_entry_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper(tmp_path, "echo credentials not found in native keychain; exit 1", monkeypatch)
    config = {"credsStore": "tests", "auths": {"registry.test": {"auth": encoded("me:x")}}}
    assert credentials_for("registry.test", write(tmp_path / "config", config)) == RegistryCredentials("me", "x")


@pytest.mark.parametrize("name", ["absent-helper", "../../tmp/evil"])
def test_a_helper_that_does_not_exist_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(OciError, match=r"not on PATH|is not the name"):
        credentials_for("registry.test", write(tmp_path, {"credsStore": name}))


def test_passwords_are_not_printed() -> None:
    assert "secret" not in repr(RegistryCredentials("me", "secret", "secret"))


def helper(place: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program `docker-credential-tests` on PATH."""
    program = place / "docker-credential-tests"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")
