"""`awaited`: names what a task is waiting for, from the chain of coroutines that it is suspended in."""

import asyncio
import os
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, Final

from sampan.client.rest_client import RESTClient

_FRAME_AND_NEXT: Final = (("cr_frame", "cr_await"), ("ag_frame", "ag_await"), ("gi_frame", "gi_yieldfrom"))
_CALL: Final[CodeType] = RESTClient.call.__code__


def awaited(task: asyncio.Task[Any], below: str = "") -> str:
    """Return the function that a suspended task awaits.

    Example: "NetworkReconciler.reconcile (network.py:57), request GET /api/v1/pods".

    Only frames below the function whose qualified name is `below` count. The result is empty if the function is
    unknown: the coroutine waits for a thread, or is running now.
    """
    frames = list(frames_of(task.get_coro()))
    names = [frame.f_code.co_qualname for frame in frames]
    if below in names:
        frames = frames[names.index(below) + 1 :]
    if not frames:
        return ""
    parts = [_place(frames[0])]
    request = next((frame for frame in frames if frame.f_code is _CALL), None)
    if request is not None:
        parts.append(f"request {request.f_locals['method']} {request.f_locals['path']}")
    elif len(frames) > 1:
        parts.append(_place(frames[-1]))
    return ", ".join(parts)


def frames_of(awaitable: object) -> Iterator[FrameType]:
    """Yield the frames of a chain of suspended coroutines, the outermost first."""
    while awaitable is not None:
        for frame_name, next_name in _FRAME_AND_NEXT:
            frame = getattr(awaitable, frame_name, None)
            if frame is not None:
                yield frame
                awaitable = getattr(awaitable, next_name)
                break
        else:
            return


def _place(frame: FrameType) -> str:
    return f"{frame.f_code.co_qualname} ({os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno})"
