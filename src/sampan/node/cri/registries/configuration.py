"""`Registries`: the content of a registries.yaml, as k3s and RKE2 read it.

    mirrors:
      docker.io:
        endpoint: ["https://mirror.example.com:5000"]
        rewrite: {"^library/(.*)": "hub/$1"}
    configs:
      "mirror.example.com:5000":
        auth: {username: reader, password: secret}
        tls: {ca_file: /etc/ssl/mirror.crt}

Errors name the field, never a value: the file has passwords.
Source: rancher/wharfie pkg/registries/types.go; k3s pkg/agent/containerd/config.go (1.36).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

import msgspec

from sampan.core.addresses.url import split_url
from sampan.resource.view import view_of
from sampan.wire import yaml
from sampan.wire.json import DecodeError

ANY: Final = "*"
"""Key of the entry for hosts without an entry."""
_HOST: Final = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?"
)
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]+(?: [\x21-\x7e]+)*")
_ENTRIES_MAX: Final = 1000
_LINE: Final = re.compile(r"line \d+")
_REFERENCE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+)|(\$))")


class Auth(msgspec.Struct, frozen=True):
    """Credentials of a registry. Its representation has none of them."""

    username: str = ""
    password: str = ""
    auth: str = ""
    identity_token: str = ""

    def __repr__(self) -> str:
        return "Auth(...)"


class Tls(msgspec.Struct, frozen=True):
    """Authority of a registry's certificate, and the certificate of the node."""

    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    insecure_skip_verify: bool = False


class HostConfig(msgspec.Struct, frozen=True):
    """Settings of a registry."""

    auth: Auth | None = None
    tls: Tls | None = None


class _Mirror(msgspec.Struct):
    endpoint: list[str] = []
    rewrite: dict[str, str] = {}


class _File(msgspec.Struct):
    mirrors: dict[str, _Mirror] = {}
    configs: dict[str, HostConfig] = {}


@dataclass(frozen=True, slots=True)
class MirrorEndpoint:
    """Address of a mirror."""

    scheme: str
    host: str
    """Host, with its port if it has one."""
    path: str = ""

    @property
    def url(self) -> str:
        """Return the address to which containerd sends requests."""
        return f"{self.scheme}://{self.host}{self.path}"


class RewriteRule:
    """Rule that replaces a part of a repository's name. Raises `ValueError` if it is invalid.

    The expressions have Go's syntax, and RE2 matches them in time linear in the name. So no expression blocks the
    agent. Where the package google-re2 is absent, because it has no wheel for the platform (musl), rules are refused.
    Source: Go regexp `ReplaceAllString`, `Expand` (1.24).
    """

    def __init__(self, pattern: str, replacement: str) -> None:
        """`replacement`: text with `$1`, `${1}` or `${name}` for groups of the expression."""
        re2 = _engine()
        options = re2.Options()
        options.log_errors = False
        try:
            self._compiled = re2.compile(pattern, options=options)
        except re2.error as error:
            [reason] = error.args or ("invalid",)
            raise ValueError(reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)) from None
        self._replacement = replacement
        names = [found[1] or found[2] for found in _REFERENCE.finditer(replacement) if not found[3]]
        for name in names:
            if name not in self._compiled.groupindex and not (name.isdecimal() and int(name) <= self._compiled.groups):
                raise ValueError(f"the expression has no group {name}")

    def applied(self, name: str) -> str | None:
        """Return the name after the replacement; None if the expression does not fit it."""
        if self._compiled.search(name) is None:
            return None
        return str(self._compiled.sub(self._expanded, name))

    def _expanded(self, match: Any) -> str:
        def text(reference: "re.Match[str]") -> str:
            if reference[3]:
                return "$"
            group = reference[1] or reference[2]
            return match[int(group) if group.isdecimal() else group] or ""

        return _REFERENCE.sub(text, self._replacement)


def _engine() -> Any:
    try:
        return import_module("re2")
    except ModuleNotFoundError:
        raise ValueError("rewrite rules need the package google-re2, which is not installed") from None


@dataclass(frozen=True, slots=True)
class Mirror:
    """Mirrors of a registry, the preferred one first, and the rules for names of repositories there."""

    endpoints: tuple[MirrorEndpoint, ...] = ()
    rules: tuple[RewriteRule, ...] = ()

    def rewritten(self, repository: str) -> str | None:
        """Return the name of a repository after the first rule that fits; None if no rule fits."""
        found = (rule.applied(repository) for rule in self.rules)
        return next((name for name in found if name is not None), None)


@dataclass(frozen=True, slots=True)
class Registries:
    """Mirrors and settings by host."""

    mirrors: Mapping[str, Mirror] = field(default_factory=dict)
    configs: Mapping[str, HostConfig] = field(default_factory=dict)

    def mirror(self, host: str) -> Mirror:
        """Return the mirrors of a host; without an entry, those of `*`."""
        return self.mirrors.get(host) or self.mirrors.get(ANY) or Mirror()

    def config(self, host: str) -> HostConfig:
        """Return the settings of a host."""
        return self.configs.get(host) or self.configs.get(ANY) or HostConfig()

    @property
    def has_secrets(self) -> bool:
        """Return True if the file has credentials."""
        return any(each.auth is not None for each in self.configs.values())


def read_registries(text: bytes) -> Registries:
    """Parse a file. **Raises** `ValueError` with the place of the fault."""
    try:
        content = yaml.decode(text) or {}
    except DecodeError as error:
        found = _LINE.search(str(error))
        raise ValueError(f"not YAML{' at ' + found.group() if found else ''}") from None
    try:
        parsed = view_of(content, _File)
    except msgspec.ValidationError as error:
        _, _, place = str(error).partition(" - at `")
        place = place.removesuffix("`") or "the top"
        raise ValueError(f"wrong type at {place}; put numbers that are texts into quotes") from None
    mirrors, configs = parsed.mirrors, parsed.configs
    if len(mirrors) + len(configs) > _ENTRIES_MAX:
        raise ValueError(f"more than {_ENTRIES_MAX} registries")
    return Registries(
        {_host(host, "mirrors"): _mirror(host, each) for host, each in mirrors.items()},
        {_host(host, "configs"): _config(host, each) for host, each in configs.items()},
    )


def _host(host: str, place: str) -> str:
    if host != ANY and not _HOST.fullmatch(host):
        raise ValueError(f"{place}: {host!r} is no host with a port, as in registry.example.com:5000")
    return host


def _mirror(host: str, mirror: _Mirror) -> Mirror:
    endpoints = tuple(_endpoint(host, each) for each in mirror.endpoint)
    rules = tuple(_rule(host, *each) for each in mirror.rewrite.items())
    return Mirror(endpoints, rules)


def _endpoint(host: str, text: str) -> MirrorEndpoint:
    place = f"mirrors.{host}.endpoint"
    try:
        parts = split_url(text if "://" in text else f"https://{text}")
        usable = parts.scheme in ("http", "https") and not parts.query and not parts.fragment
    except ValueError:
        usable = False
    if not usable or not _HOST.fullmatch(parts.netloc) or not re.fullmatch(r"[\w./~%+-]*", parts.path, re.ASCII):
        raise ValueError(f"{place}: an entry is no URL, as in https://mirror.example.com:5000")
    return MirrorEndpoint(parts.scheme, parts.netloc, parts.path.rstrip("/"))


def _rule(host: str, pattern: str, replacement: str) -> RewriteRule:
    try:
        return RewriteRule(pattern, replacement)
    except ValueError as error:
        raise ValueError(f"mirrors.{host}.rewrite: {pattern!r} or its replacement is wrong: {error}") from None


def _config(host: str, config: HostConfig) -> HostConfig:
    for name in ("ca_file", "cert_file", "key_file") if config.tls is not None else ():
        path = getattr(config.tls, name)
        if path and not (path.startswith("/") and _PRINTABLE.fullmatch(path)):
            raise ValueError(f"configs.{host}.tls.{name}: must be an absolute path")
    return config
