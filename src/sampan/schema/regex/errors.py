"""Errors of searches."""


class SearchTooLong(Exception):
    """A search would take too long. Only the fallback raises it, for a large expression on a long text."""

    def __init__(self) -> None:
        super().__init__("the search takes too long: the regular expression is too complex for this text")
