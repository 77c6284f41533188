"""`forget_frames`: frees what the frames of an error refer to."""


def forget_frames(error: BaseException) -> None:
    """Remove the tracebacks of an error, its causes and its contexts.

    A variable of one of its frames may refer to the error itself. Such a cycle keeps the request with its body of up to
    3 MiB, or its response, until the collector looks at all objects: 200 refused bodies kept 440 MB. A task that ended
    with the error keeps the frames as long as the task itself is listed somewhere.
    """
    visited: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        each = left.pop()
        if each is not None and id(each) not in visited:
            visited.add(id(each))
            each.__traceback__ = None
            left += (each.__cause__, each.__context__)
