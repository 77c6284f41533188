"""Errors that come out of task groups."""


def single_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error itself where a group has but one in it, at whatever depth; else the group."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
