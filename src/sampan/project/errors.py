"""The error of a command on a project."""


class ProjectError(Exception):
    """A command cannot do its work, and has written nothing. The text names the fault and the fix.

    It is one line, or one with a list below it: each entry is a line with two spaces before it.
    """
