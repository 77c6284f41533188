"""Credentials for registries, from the files and programs that docker, podman and nerdctl use.

Source: docker/cli config/configfile and credential-helpers client (v28); containers-auth.json(5).
"""

import base64
import binascii
import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sampan.oci.errors import OciError
from sampan.oci.reference import DOCKER_HUB

_DOCKER_HUB_KEY: Final = "https://index.docker.io/v1/"
_HELPER_TIMEOUT_S: Final = 30.0
_TOKEN_USER: Final = "<token>"
_FILE_BYTES_MAX: Final = 1 << 20

_is_helper = re.compile("[A-Za-z0-9][A-Za-z0-9._-]*").fullmatch


@dataclass(frozen=True, slots=True)
class RegistryCredentials:
    """User and password; or a token that a registry's authorization server exchanges (`identity_token`)."""

    user: str = ""
    password: str = field(default="", repr=False)
    identity_token: str = field(default="", repr=False)

    def basic(self) -> str:
        """Return the value of `Authorization` for basic authentication."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


def credentials_for(host: str, environment: Mapping[str, str] = os.environ) -> RegistryCredentials | None:
    """Return the credentials for a registry; None if there are none.

    The first file with an entry is used: `$REGISTRY_AUTH_FILE`, `$DOCKER_CONFIG/config.json` or
    `~/.docker/config.json`, and `$XDG_RUNTIME_DIR/containers/auth.json`. Raises `OciError` for a damaged file, and if a
    credential helper fails.
    """
    for file in _files(environment):
        config = _read(file)
        if config is None:
            continue
        found = _in_config(config, host, file)
        if found is not None:
            return found
    return None


def _files(environment: Mapping[str, str]) -> Iterator[Path]:
    if named := environment.get("REGISTRY_AUTH_FILE"):
        yield Path(named)
    docker = environment.get("DOCKER_CONFIG")
    yield (Path(docker) if docker else Path(environment.get("HOME", "/")) / ".docker") / "config.json"
    if runtime := environment.get("XDG_RUNTIME_DIR"):
        yield Path(runtime, "containers", "auth.json")


def _read(file: Path) -> dict[str, Any] | None:
    try:
        with file.open("rb") as opened:
            config = json.loads(opened.read(_FILE_BYTES_MAX))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise OciError(f"cannot read the credentials in {file}: {error}") from None
    if not isinstance(config, dict):
        raise OciError(f"cannot read the credentials in {file}: it is not a JSON object")
    return config


def _in_config(config: dict[str, Any], host: str, file: Path) -> RegistryCredentials | None:
    helpers = config.get("credHelpers")
    helper = helpers.get(host) if isinstance(helpers, dict) else None
    if helper is None and isinstance(config.get("credsStore"), str):
        helper = config["credsStore"]
    key = _DOCKER_HUB_KEY if host == DOCKER_HUB else host
    if isinstance(helper, str) and helper:
        found = _from_helper(helper, key)
        if found is not None:
            return found
    entries = config.get("auths")
    if not isinstance(entries, dict):
        return None
    for name in (key, f"https://{host}", f"http://{host}", f"https://{host}/v1/", f"https://{host}/v2/"):
        if isinstance(entry := entries.get(name), dict) and (found := _of_entry(entry, name, file)) is not None:
            return found
    return None


def _of_entry(entry: dict[str, Any], name: str, file: Path) -> RegistryCredentials | None:
    user, password = str(entry.get("username") or ""), str(entry.get("password") or "")
    token = str(entry.get("identitytoken") or "")
    if encoded := entry.get("auth"):
        try:
            decoded = base64.b64decode(str(encoded), validate=True).decode()
        except (binascii.Error, ValueError):
            raise OciError(f"{file}: auth of {name} is not base64 of user:password") from None
        user, _, password = decoded.rstrip("\0").partition(":")
    return RegistryCredentials(user, password, token) if user or token else None


def _from_helper(name: str, key: str) -> RegistryCredentials | None:
    """Run `docker-credential-NAME`. Return None if it has no credentials for the registry."""
    program = f"docker-credential-{name}"
    if _is_helper(name) is None:
        raise OciError(f"{name!r} is not the name of a credential helper")
    try:
        done = subprocess.run(
            [program, "get"], input=key, capture_output=True, text=True, timeout=_HELPER_TIMEOUT_S, check=False
        )
    except FileNotFoundError:
        raise OciError(f"the docker configuration names {program}, which is not on PATH") from None
    except subprocess.TimeoutExpired:
        raise OciError(f"{program} did not end within {_HELPER_TIMEOUT_S:g} s") from None
    if done.returncode:
        if "credentials not found" in done.stdout:
            return None
        raise OciError(f"{program} failed: {(done.stderr or done.stdout).strip()[:200]}")
    try:
        response = json.loads(done.stdout)
        user, secret = str(response["Username"]), str(response["Secret"])
    except (ValueError, LookupError, TypeError):
        raise OciError(f"{program} printed no JSON with Username and Secret") from None
    return RegistryCredentials(identity_token=secret) if user == _TOKEN_USER else RegistryCredentials(user, secret)
