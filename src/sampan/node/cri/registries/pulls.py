"""`attempts`: the names and credentials with which an image is pulled, in order.

containerd reads mirrors from hosts.toml, but has no rules for names of repositories. An image with such a rule is
therefore pulled by its name at the mirror.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from sampan.node.cri.messages import AnyMessage, message
from sampan.node.cri.registries.configuration import Auth, Registries
from sampan.node.cri.registries.hosts import DOCKER_HUB, DOCKER_HUB_SERVER
from sampan.node.cri.registries.pull_secrets import with_registry

CONTAINERD: Final = "containerd"


class Attempt(NamedTuple):
    """Name to pull, and CRI's AuthConfig."""

    reference: str
    auth: AnyMessage | None


def rewritten(registries: Registries, image: str) -> list[Attempt]:
    """Return the names of an image at mirrors whose rules fit it; they come before the image's own name."""
    host, _, rest = with_registry(image).partition("/")
    repository, tail = _split(rest)
    mirror = registries.mirror(host)
    name = mirror.rewritten(repository)
    if name is None:
        return []
    found = []
    for endpoint in mirror.endpoints:
        prefix = endpoint.path.removeprefix("/v2").strip("/")
        path = f"{prefix}/{name}" if prefix else name
        found.append(Attempt(f"{endpoint.host}/{path}{tail}", _auth(registries, endpoint.host)))
    return found


def own(registries: Registries, image: str, *, runtime: str) -> Iterator[Attempt]:
    """Yield the image's own name with the credentials of each mirror, then of the registry.

    `runtime`: name of the container runtime. Runtimes other than containerd do not read the address in credentials, and
    would send those of a mirror to the registry. Source: cri-o server/image_pull.go (1.34).
    """
    host, _, _ = with_registry(image).partition("/")
    mirrors = registries.mirror(host).endpoints if runtime == CONTAINERD else ()
    hosts = dict.fromkeys([*(each.host for each in mirrors), host])
    for each in hosts:
        auth = _auth(registries, each)
        if auth is not None:
            yield Attempt(image, auth)


def _auth(registries: Registries, host: str) -> AnyMessage | None:
    """Return the credentials of a host. They name it, so that containerd sends them to no other one."""
    server = DOCKER_HUB_SERVER if host == DOCKER_HUB else host
    found = registries.config(host).auth or registries.config(server).auth
    if found is None or found == Auth():
        return None
    return message("AuthConfig")(
        username=found.username,
        password=found.password,
        auth=found.auth,
        identity_token=found.identity_token,
        server_address=f"https://{server}",
    )


def _split(rest: str) -> tuple[str, str]:
    """Return the repository, and the rest of a name: `:TAG`, `@DIGEST`, or both; `:latest` without any."""
    named, at, digest = rest.partition("@")
    repository, colon, tag = named.partition(":")
    return repository, f"{colon}{tag}{at}{digest}" or ":latest"
