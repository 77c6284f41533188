"""Credentials of image registries, from a Pod's `imagePullSecrets`.

Source: kubernetes pkg/credentialprovider/{config.go,keyring.go,secrets/secrets.go} (1.36).
"""

import base64
import fnmatch
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from sampan.node.cri.messages import AnyMessage, message
from sampan.node.references import Missing, References, Unreadable
from sampan.node.views.pod import Pod

_log = logging.getLogger("sampan.node")


class Keyring(Protocol):
    """Credentials for pulling images."""

    async def of(self, pod: Pod, image: str) -> Sequence[AnyMessage]:
        """Return CRI's AuthConfigs that fit an image, the most specific first."""
        ...


class NoCredentials:
    """Source of credentials for a node without any: all images are pulled anonymously."""

    async def of(self, pod: Pod, image: str) -> Sequence[AnyMessage]:
        """Return none."""
        return ()


class PullSecrets:
    """Credentials of the Secrets that Pods name."""

    def __init__(self, references: References) -> None:
        self._references = references

    async def of(self, pod: Pod, image: str) -> Sequence[AnyMessage]:
        """Return the entries of the Pod's Secrets that fit an image."""
        found: list[tuple[int, AnyMessage]] = []
        for each in pod.spec.image_pull_secrets:
            try:
                secret = await self._references.secret(pod.metadata.namespace, each.name)
            except (Missing, Unreadable) as error:
                _log.info("cannot read an image pull secret of pod %s: %s", pod.key, error)
                continue
            found += matching(secret.data, image)
        return [auth for _, auth in sorted(found, key=lambda pair: pair[0], reverse=True)]


def matching(data: Mapping[str, bytes], image: str) -> Iterator[tuple[int, AnyMessage]]:
    """Yield the entries of a Secret that fit an image, with the length of their registry."""
    desired = with_registry(image)
    for registry, entry in _entries(data).items():
        pattern = registry.removeprefix("https://").removeprefix("http://").rstrip("/")
        pattern = pattern.removesuffix("/v1").removesuffix("/v2")
        host, _, path = pattern.partition("/")
        desired_host, _, desired_path = desired.partition("/")
        if fnmatch.fnmatchcase(desired_host, _canonical(host)) and desired_path.startswith(path):
            auth = _auth(entry)
            if auth is not None:
                yield len(pattern), auth


def _entries(data: Mapping[str, bytes]) -> dict[str, Any]:
    try:
        if ".dockerconfigjson" in data:
            found = json.loads(data[".dockerconfigjson"]).get("auths") or {}
        else:
            found = json.loads(data.get(".dockercfg", b"{}"))
    except (ValueError, AttributeError):
        return {}
    return found if isinstance(found, dict) else {}


def _auth(entry: Any) -> AnyMessage | None:
    if not isinstance(entry, dict):
        return None
    user, password = str(entry.get("username", "")), str(entry.get("password", ""))
    if not user and entry.get("auth"):
        try:
            user, _, password = base64.b64decode(str(entry["auth"])).decode().partition(":")
        except ValueError:
            return None
    return message("AuthConfig")(username=user, password=password) if user else None


def with_registry(image: str) -> str:
    """Return an image's name with its registry: Docker Hub's, unless the first part is a host."""
    first, slash, _ = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return image
    return f"docker.io/{image}" if slash else f"docker.io/library/{image}"


def _canonical(host: str) -> str:
    return "docker.io" if host in ("index.docker.io", "registry-1.docker.io") else host
