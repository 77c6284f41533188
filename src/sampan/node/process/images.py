"""`Images`: maps the name of an image to a directory, or to the host's file system.

The first match counts: a configured name (with its tag or digest, then without), `<image_dir>/<repository>/<tag>`,
`<image_dir>/<repository>`, and last the default. The repository is used as it is written in the Pod, without a default
registry. The default tag is `latest`. A directory's `image.json` has the fields of an OCI image configuration:
entrypoint, cmd, env, workingDir, user, stopSignal. Keys may have any case; env is an object or a list of `NAME=value`.
Source: image-spec config.md (1.1); kubelet pkg/kubelet/images/image_manager.go (1.36) for reasons and messages.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from sampan.node.pods.image_name import check_image_name
from sampan.node.runtime import ImageError

HOST: Final = "host"
_CONFIG: Final = "image.json"


@dataclass(frozen=True, slots=True)
class Image:
    """Root file system and defaults of a container."""

    name: str
    directory: str = "/"
    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    working_dir: str = ""
    user: str = ""
    """`name` or `uid`, each optionally with `:group`; empty for the agent's user."""
    stop_signal: str = ""

    @property
    def is_host(self) -> bool:
        """True if the image is the machine's own file system."""
        return self.directory == "/"

    @property
    def id(self) -> str:
        """Id for the container's status."""
        return HOST if self.is_host else self.directory


class Images:
    """Images of a node."""

    def __init__(
        self,
        names: Mapping[str, str],
        *,
        directory: Path | None = None,
        default: Literal["host", "refuse"] = "host",
    ) -> None:
        """`names`: maps an image to a directory, or to `host`.

        `default`: for other images, `host` uses the machine's file system, and `refuse` fails.
        """
        self._names = dict(names)
        self._directory = directory
        self._default = default

    def find(self, name: str) -> Image:
        """Return the image with this name. Raises `ImageError`."""
        match = check_image_name(name)
        place = self._place(name, match["repository"], match["tag"] or "latest")
        if place == HOST:
            return Image(name)
        if place:
            return _read(name, place)
        raise ImageError("ErrImagePull", f'image "{name}" not found: no directory is configured for it')

    def _place(self, name: str, repository: str, tag: str) -> str:
        for known in (name, name.partition("@")[0], f"{repository}:{tag}", repository):
            if known in self._names:
                return self._names[known]
        if self._directory is not None:
            for path in (self._directory / repository / tag, self._directory / repository):
                if path.is_dir():
                    return str(path)
        return HOST if self._default == "host" else ""


def _read(name: str, place: str) -> Image:
    directory = os.path.realpath(place)
    if not os.path.isdir(directory):
        raise ImageError("ErrImagePull", f'cannot use image "{name}": {place} is not a directory')
    path = Path(directory, _CONFIG)
    try:
        config = {key.lower(): value for key, value in json.loads(path.read_bytes()).items()} if path.exists() else {}
        return Image(
            name,
            directory,
            entrypoint=_strings(config, "entrypoint"),
            cmd=_strings(config, "cmd"),
            env=_env(config.get("env") or {}),
            working_dir=str(config.get("workingdir") or ""),
            user=str(config.get("user") or ""),
            stop_signal=str(config.get("stopsignal") or ""),
        )
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise ImageError("ErrImagePull", f'cannot read {path} of image "{name}": {error}') from error


def _strings(config: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = config.get(name) or ()
    if isinstance(value, str) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{name} must be a list of strings")
    return tuple(value)


def _env(value: Any) -> dict[str, str]:
    if isinstance(value, dict):
        return {str(name): str(text) for name, text in value.items()}
    return {name: text for name, _, text in (each.partition("=") for each in value)}
