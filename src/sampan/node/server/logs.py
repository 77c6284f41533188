"""Logs of containers, and the parameters of a request for them.

Source: kubelet pkg/kubelet/server/server.go `getContainerLogs`, kubelet_pods.go `validateContainerLogStatus` (1.36).
"""

import datetime as dt
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import Final

from sampan.core.time import parse_time
from sampan.http.server import AnyResponse, Request, Response, StreamedResponse
from sampan.node.runtime import LogOptions, Runtime
from sampan.node.views.pod import Pod

Query = Mapping[str, Sequence[str]]

_STREAMS: Final = ("All", "Stdout", "Stderr")
_INT64_MAX: Final = (1 << 63) - 1
_DIGITS_MAX: Final = 19


class UndecodableQuery(ValueError):
    """A parameter has the wrong type."""


class InvalidQuery(ValueError):
    """A parameter has an invalid value."""


def log_options(query: Query) -> LogOptions:
    """Return the options of a request. Raises `UndecodableQuery`, `InvalidQuery`."""
    tail = _number(query, "tailLines")
    if old_tail := _text(query, "tail"):
        tail = None if old_tail == "all" else _number(query, "tail")
    options = LogOptions(
        follow=_flag(query, "follow"),
        previous=_flag(query, "previous"),
        timestamps=_flag(query, "timestamps"),
        tail_lines=tail,
        limit_bytes=_number(query, "limitBytes"),
        since_seconds=_number(query, "sinceSeconds"),
        since_time=_time(query, "sinceTime"),
        stream=_text(query, "stream") or "All",
    )
    _validate(options)
    return options


def _validate(options: LogOptions) -> None:
    """Return the faults of the options. Source: pkg/apis/core/validation `ValidatePodLogOptions` (1.36)."""
    if options.tail_lines is not None and options.tail_lines < 0:
        raise InvalidQuery("tailLines")
    if options.limit_bytes is not None and options.limit_bytes < 1:
        raise InvalidQuery("limitBytes")
    if options.since_seconds is not None and (options.since_time is not None or options.since_seconds < 1):
        raise InvalidQuery("sinceSeconds")
    if options.stream not in _STREAMS or (options.stream != "All" and options.tail_lines is not None):
        raise InvalidQuery("stream")


async def logs_response(request: Request, pod: Pod, runtime: Runtime, container: str) -> AnyResponse:
    """Return a response that streams the log of a container."""
    try:
        options = log_options(request.query)
    except UndecodableQuery:
        return Response(400, b'{"message": "Unable to decode query."}')
    except InvalidQuery:
        return Response(422, b'{"message": "Invalid request."}')
    spec = pod.spec
    if container not in (each.name for each in (*spec.containers, *spec.init_containers, *spec.ephemeral_containers)):
        return Response(404, f'container "{container}" not found in pod "{pod.metadata.name}"'.encode())
    missing = _missing(pod, runtime, container, previous=options.previous)
    if missing:
        return Response(400, missing.encode())
    parts = runtime.logs(pod, container, options)
    first = b""
    if not options.follow:
        # The log may stay silent for long, so send the head now. After that, the request can no longer be refused.
        try:
            first = await anext(parts, b"")
        except LookupError as error:
            return Response(400, str(error).encode())
    return StreamedResponse(200, _joined(first, parts), "text/plain")


def _missing(pod: Pod, runtime: Runtime, container: str, *, previous: bool) -> str:
    """Return the reason why there is no such log; empty if there is one."""
    record = runtime.containers(pod.metadata.uid).get(container)
    where = f'container "{container}" in pod "{pod.metadata.name}"'
    if previous:
        return "" if record is not None and record.previous is not None else f"previous terminated {where} not found"
    if record is not None:
        return ""
    reported = pod.reported
    for status in (*(reported.get("containerStatuses") or ()), *(reported.get("initContainerStatuses") or ())):
        waiting = (status.get("state") or {}).get("waiting")
        if status.get("name") == container and waiting:
            return f"{where} is waiting to start: {_waiting(waiting.get('reason', ''))}"
    return f"{where} is not available"


def _waiting(reason: str) -> str:
    texts = {"ErrImagePull": "image can't be pulled", "ImagePullBackOff": "trying and failing to pull image"}
    return texts.get(reason, reason)


async def _joined(first: bytes, parts: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    try:
        if first:
            yield first
        try:
            async for part in parts:
                yield part
        except LookupError:
            return  # The container is gone.
    finally:
        if isinstance(parts, AsyncGenerator):
            await parts.aclose()


def _text(query: Query, name: str) -> str:
    values = query.get(name)
    return values[0] if values else ""


def _number(query: Query, name: str) -> int | None:
    text = _text(query, name)
    if not text:
        return None
    digits = text[1:] if text[0] in "+-" else text
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > _DIGITS_MAX or abs(int(text)) > _INT64_MAX:
        raise UndecodableQuery(name)
    return int(text)


def _flag(query: Query, name: str) -> bool:
    """Parse a boolean as Kubernetes clients send it: true if it is present and neither `false` nor `0`."""
    return name in query and _text(query, name).lower() not in ("false", "0")


def _time(query: Query, name: str) -> dt.datetime | None:
    text = _text(query, name)
    if not text:
        return None
    try:
        return parse_time(text)
    except ValueError:
        raise UndecodableQuery(name) from None
