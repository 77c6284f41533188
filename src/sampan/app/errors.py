"""Why a server cannot run, for the person who started it."""


class StartError(Exception):
    """The text is one line that says what is wrong."""
