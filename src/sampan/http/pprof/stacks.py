"""Current stacks of all tasks and threads. A task of asyncio corresponds to a goroutine of Go."""

import asyncio
import sys
import threading
from types import CodeType, CoroutineType, FrameType

from sampan.http.pprof.profile import Frame, Profile, Stack, code_frame, stack_of


def stacks_profile() -> Profile:
    """Return the number of tasks and threads with the same stack."""
    profile = Profile((("goroutine", "count"),))
    for _, stack in _all_stacks():
        profile.add(stack, 1)
    return profile


def stacks_text() -> str:
    """Return the stack of each task and each thread, the innermost frame first."""
    return "\n".join(f"{title}:\n{_lines(stack)}" for title, stack in _all_stacks())


def _all_stacks() -> list[tuple[str, Stack]]:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    threads = [
        (f"thread {identifier} [{names.get(identifier, '?')}]", stack_of(frame))
        for identifier, frame in sys._current_frames().items()
    ]
    tasks = [(f"task [{task.get_name()}]", _task_stack(task)) for task in asyncio.all_tasks()]
    return [*tasks, *threads]


def _task_stack(task: "asyncio.Task[object]") -> Stack:
    """Return the stack of a waiting task: the chain of awaited coroutines."""
    frames: list[Frame] = []
    waiting: object = task.get_coro()
    while waiting is not None:
        frame = _frame_of(waiting)
        if frame is None:
            break
        code: CodeType = frame.f_code
        frames.append(code_frame(code, frame.f_lineno))
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "ag_await", None)
    return tuple(reversed(frames)) or (Frame("(done)"),)


def _frame_of(waiting: object) -> FrameType | None:
    if isinstance(waiting, CoroutineType):
        return waiting.cr_frame
    frame = getattr(waiting, "ag_frame", None) or getattr(waiting, "gi_frame", None)
    return frame if isinstance(frame, FrameType) else None


def _lines(stack: Stack) -> str:
    return "".join(f"{frame.function}\n\t{frame.file}:{frame.line}\n" for frame in stack)
