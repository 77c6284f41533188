"""`hosts_files`: the hosts.toml files of containerd, with mirrors and TLS settings of registries.

Source: containerd docs/hosts.md, remotes/docker/config/hosts.go (1.6 and 2.1).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Final

from sampan.node.cri.registries.configuration import ANY, Mirror, MirrorEndpoint, Registries, Tls

MARK: Final = "# Written by sampan from its registries file. Changes are overwritten."
DOCKER_HUB: Final = "docker.io"
DOCKER_HUB_SERVER: Final = "registry-1.docker.io"
_DEFAULT: Final = "_default"


def hosts_files(registries: Registries) -> Mapping[str, str]:
    """Return the content of each hosts.toml, by the name of its directory."""
    endpoints = [each for mirror in registries.mirrors.values() for each in mirror.endpoints]
    plain = {each.host for each in endpoints if each.scheme == "http"}
    hosts = {host for host, mirror in registries.mirrors.items() if mirror.endpoints}
    hosts |= {host for host, config in registries.configs.items() if config.tls is not None and host != ANY}
    # An image with a rewritten name is pulled from its mirror by the mirror's own name.
    rewriting = {each.host for mirror in registries.mirrors.values() if mirror.rules for each in mirror.endpoints}
    hosts |= {host for host in rewriting if host in plain or registries.config(host).tls is not None}
    return {_DEFAULT if host == ANY else host: _content(registries, host, plain) for host in sorted(hosts)}


def _content(registries: Registries, host: str, plain: set[str]) -> str:
    lines = [MARK]
    if host != ANY:
        server = DOCKER_HUB_SERVER if host == DOCKER_HUB else host
        scheme = "http" if host in plain else "https"
        lines.append("server = " + _text(f"{scheme}://{server}"))
        lines += _tls(registries.config(host).tls, host not in plain)
    mirror = registries.mirrors.get(host) or Mirror()
    endpoints = {each: registries.config(each.host).tls for each in mirror.endpoints}
    if host != ANY and host not in plain and registries.config(host).tls is not None:
        # containerd 1.6 ignores the TLS settings of `server`. Those of a host are read by all versions.
        endpoints[MirrorEndpoint("https", DOCKER_HUB_SERVER if host == DOCKER_HUB else host)] = registries.config(
            host
        ).tls
    for endpoint, tls in endpoints.items():
        lines += _endpoint(endpoint, tls)
    return "\n".join([*lines, ""])


def _endpoint(endpoint: MirrorEndpoint, tls: Tls | None) -> Iterator[str]:
    yield ""
    yield f"[host.{_text(endpoint.url)}]"
    yield '  capabilities = ["pull", "resolve"]'
    if endpoint.path:
        yield "  override_path = true"
    for line in _tls(tls, endpoint.scheme == "https"):
        yield f"  {line}"


def _tls(tls: Tls | None, is_encrypted: bool) -> Iterator[str]:
    if tls is None or not is_encrypted:
        return
    if tls.ca_file:
        yield f"ca = {_text(tls.ca_file)}"
    if tls.cert_file:
        yield f"client = [[{_text(tls.cert_file)}, {_text(tls.key_file)}]]"
    if tls.insecure_skip_verify:
        yield "skip_verify = true"


def _text(text: str) -> str:
    """Return a TOML string. The texts are printable ASCII, whose form is that of JSON."""
    return json.dumps(text)
