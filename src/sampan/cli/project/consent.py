"""Consent of the user to changes of a cluster."""

import sys

import click

from sampan.project.errors import ProjectError


def accepted(yes: bool, question: str) -> bool:
    """Return True if the user accepts what was shown. `yes`: the option --yes, with which a script accepts.

    Raises `ProjectError` without a terminal and without --yes.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise ProjectError("nothing was changed, because a confirmation needs a terminal: --yes accepts in a script")
    return click.confirm(question, default=False)
