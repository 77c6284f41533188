"""Unwrap errors of task groups."""


def single_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the only error of a group, at any depth; the group itself if it has several."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
