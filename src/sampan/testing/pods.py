"""`Pods`: behaviour of Pods on the simulated nodes, which are part of `loops="chain"`.

    cluster.pods.ready_after("web-*", 2)
    cluster.pods.crash("db-0", after=1, times=3)
    cluster.pods.image_pull_fails("*")

A rule applies to Pods that are created after it. If several rules match, the last one applies. Names match a pattern of
the shell; a generated name (`web-7d4b9-x2x8w`) matches by its prefix too. Rules become annotations of the Pod, as
`sampan.node.simulated.annotations` describes them.
"""

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Final

from sampan.client.transport import HttpRequest
from sampan.node.simulated.annotations import (
    COMPLETE_AFTER,
    EXIT_CODE,
    FAIL_AFTER,
    FAIL_TIMES,
    IMAGE_PULL_FAILS,
    READY_AFTER,
    TERMINATION_MESSAGE,
)
from sampan.testing.requests import SentRequest
from sampan.wire import json

_NEVER: Final = "1000000h"
_CREATES: Final = frozenset({"create", "patch"})


class Pods:
    """Rules for new Pods."""

    def __init__(self) -> None:
        self._rules: list[tuple[str, dict[str, str]]] = []

    def ready_after(self, names: str = "*", seconds: float = 0.0) -> None:
        """Let containers become ready some time after their start."""
        self._add(names, {READY_AFTER: _duration(seconds)})

    def never_ready(self, names: str = "*") -> None:
        """Let containers run without ever becoming ready."""
        self._add(names, {READY_AFTER: _NEVER})

    def crash(self, names: str = "*", *, after: float = 0.0, times: int = 0, exit_code: int = 1) -> None:
        """Let containers fail `after` seconds after their start, at the first `times` starts; 0: at each start."""
        annotations = {FAIL_AFTER: _duration(after), EXIT_CODE: str(exit_code)}
        self._add(names, annotations | ({FAIL_TIMES: str(times)} if times else {}))

    def complete(self, names: str = "*", *, after: float = 0.0, exit_code: int = 0, message: str = "") -> None:
        """Let containers end some time after their start, as those of a Job do.

        `message`: what they write to `/dev/termination-log`, and their status reports.
        """
        annotations = {COMPLETE_AFTER: _duration(after), EXIT_CODE: str(exit_code)}
        self._add(names, annotations | ({TERMINATION_MESSAGE: message} if message else {}))

    def image_pull_fails(self, names: str = "*", *, seconds: float | None = None) -> None:
        """Let the pulls of images fail for some time after the Pod's creation; None: always."""
        self._add(names, {IMAGE_PULL_FAILS: "always" if seconds is None else _duration(seconds)})

    def rewrite(self, sent: SentRequest) -> HttpRequest:
        """Return the request, with the annotations of the rule that matches a new Pod."""
        request, info = sent.request, sent.info
        if not self._rules or info.resource != "pods" or info.subresource or info.verb not in _CREATES:
            return request
        pod = json.decode(request.body)
        metadata = pod.setdefault("metadata", {}) if isinstance(pod, dict) else {}
        annotations = self._annotations(metadata)
        if annotations is None:
            return request
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations}
        return replace(request, body=json.encode(pod))

    def _annotations(self, metadata: Mapping[str, str]) -> dict[str, str] | None:
        name = metadata.get("name") or f"{metadata.get('generateName', '')}00000"
        matching = [annotations for names, annotations in self._rules if fnmatchcase(name, names)]
        return matching[-1] if matching else None

    def _add(self, names: str, annotations: dict[str, str]) -> None:
        self._rules.append((names, annotations))


def _duration(seconds: float) -> str:
    return f"{seconds:g}s"
