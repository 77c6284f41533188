"""`PlainError`: an error whose text is shown as it stands."""

import click


class PlainError(click.ClickException):
    """The message says all, kubectl's way: nothing is put before it."""
