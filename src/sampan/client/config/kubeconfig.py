"""`KubeConfig`: kubeconfig files, read and merged, with absolute paths.

Source: client-go tools/clientcmd/{loader.go,api/v1/types.go,api/v1/conversion.go} (1.36).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from sampan.client.errors import ConfigError
from sampan.wire.json import DecodeError

_YAML: Final = "sampan.wire.yaml"
"""Module that is imported only when a file is read: a program in a Pod reads no kubeconfig, and YAML takes a tenth of
the time to import the client.
"""

Entry = TypeVar("Entry", "ClusterEntry", "AuthInfo", "ContextEntry")


class NamedExtension(msgspec.Struct, frozen=True):
    """Extension: a name and any value."""

    name: str = ""
    extension: Any = None


class ClusterEntry(msgspec.Struct, frozen=True, rename="kebab"):
    """Address of a cluster, and the rules for the verification of its certificate."""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: bytes = b""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: list[NamedExtension] = []


class ExecEnvVar(msgspec.Struct, frozen=True):
    """Environment variable of an exec program."""

    name: str = ""
    value: str = ""


class Exec(msgspec.Struct, frozen=True, rename="camel"):
    """Exec program."""

    command: str = ""
    args: list[str] = []
    env: list[ExecEnvVar] = []
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class AuthProvider(msgspec.Struct, frozen=True):
    """Predecessor of exec programs, no longer supported by Kubernetes except for OIDC."""

    name: str = ""


class AuthInfo(msgspec.Struct, frozen=True, rename="kebab"):
    """Credentials and impersonation."""

    client_certificate: str = ""
    client_certificate_data: bytes = b""
    client_key: str = ""
    client_key_data: bytes = b""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    impersonate: str = msgspec.field(default="", name="as")
    impersonate_uid: str = msgspec.field(default="", name="as-uid")
    impersonate_groups: list[str] = msgspec.field(default_factory=list, name="as-groups")
    impersonate_extra: dict[str, list[str]] = msgspec.field(default_factory=dict, name="as-user-extra")
    username: str = ""
    password: str = ""
    auth_provider: AuthProvider | None = None
    exec: Exec | None = None


class ContextEntry(msgspec.Struct, frozen=True):
    """Combination of a cluster, a user and a namespace."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class KubeConfig:
    """One file, or several merged. Its paths are absolute."""

    current_context: str = ""
    clusters: Mapping[str, ClusterEntry] = field(default_factory=dict)
    users: Mapping[str, AuthInfo] = field(default_factory=dict)
    contexts: Mapping[str, ContextEntry] = field(default_factory=dict)
    origins: Mapping[tuple[str, str], Path] = field(default_factory=dict)
    """File of each entry, by kind (`cluster`, `user`, `context`) and name."""

    def origin(self, kind: str, name: str) -> str:
        """Return `FILE: kind "name"`, for messages."""
        path = self.origins.get((kind, name))
        return f'{path}: {kind} "{name}"' if path else f'{kind} "{name}"'


def merge(configs: Iterable[KubeConfig]) -> KubeConfig:
    """Merge configurations. The first file with an entry or a current context wins; entries are not merged."""
    merged = KubeConfig()
    for config in configs:
        merged = KubeConfig(
            merged.current_context or config.current_context,
            {**config.clusters, **merged.clusters},
            {**config.users, **merged.users},
            {**config.contexts, **merged.contexts},
            {**config.origins, **merged.origins},
        )
    return merged


def read_kubeconfig(path: Path) -> KubeConfig:
    """Read a file. Raises `FileNotFoundError`, or `ConfigError` if it cannot be read or decoded."""
    try:
        document = import_module(_YAML).decode(path.read_bytes())
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except DecodeError as error:
        raise ConfigError(f"{path}: {error}") from error
    return parse_kubeconfig(document, path)


def parse_kubeconfig(document: Any, path: Path) -> KubeConfig:
    """Return the kubeconfig of decoded YAML. `path` is its file, for relative paths. Raises `ConfigError`."""
    if document is None:
        return KubeConfig()
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: a kubeconfig must be a mapping")
    if document.get("kind") not in (None, "", "Config") or document.get("apiVersion") not in (None, "", "v1"):
        raise ConfigError(f"{path}: expected v1 Config, got {document.get('apiVersion')} {document.get('kind')}")
    reader = _Reader(path)
    current = document.get("current-context")
    if not isinstance(current, str | None):
        raise ConfigError(f"{path}: current-context must be a string")
    base = path.absolute().parent
    return KubeConfig(
        current or "",
        {
            name: _whole_cluster(entry, base)
            for name, entry in reader.entries(document, "cluster", ClusterEntry).items()
        },
        {name: _whole_user(entry, base) for name, entry in reader.entries(document, "user", AuthInfo).items()},
        reader.entries(document, "context", ContextEntry),
        reader.origins,
    )


class _Reader:
    """Decoder of the lists of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.origins: dict[tuple[str, str], Path] = {}

    def entries(self, document: Mapping[str, Any], kind: str, struct: type[Entry]) -> dict[str, Entry]:
        """Return the entries of `clusters`, `users` or `contexts`, by name."""
        found: dict[str, Entry] = {}
        listed = document.get(f"{kind}s") or []
        if not isinstance(listed, list):
            raise ConfigError(f"{self._path}: {kind}s must be a list")
        for index, named in enumerate(listed):
            name = named.get("name") if isinstance(named, dict) else None
            if not isinstance(name, str):
                raise ConfigError(f"{self._path}: {kind}s[{index}] has no name")
            if name in found:
                raise ConfigError(f'{self._path}: {kind} "{name}" occurs twice')
            try:
                found[name] = msgspec.convert(_without_nulls(named.get(kind)) or {}, struct)
            except msgspec.ValidationError as error:
                raise ConfigError(f'{self._path}: {kind} "{name}": {error}') from error
            self.origins[kind, name] = self._path
        return found


def _without_nulls(value: Any) -> Any:
    """Return the value without nulls, which count as absent."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_nulls(inner) for inner in value]
    return value


def _whole_cluster(cluster: ClusterEntry, base: Path) -> ClusterEntry:
    if not cluster.certificate_authority:
        return cluster
    return msgspec.structs.replace(cluster, certificate_authority=str(base / cluster.certificate_authority))


def _whole_user(user: AuthInfo, base: Path) -> AuthInfo:
    paths = {
        name: str(base / getattr(user, name))
        for name in ("client_certificate", "client_key", "token_file")
        if getattr(user, name)
    }
    if user.exec is not None and "/" in user.exec.command:
        # A command without a slash is searched for in PATH.
        whole = msgspec.structs.replace(user.exec, command=str(base / user.exec.command))
        user = msgspec.structs.replace(user, exec=whole)
    return msgspec.structs.replace(user, **paths) if paths else user
