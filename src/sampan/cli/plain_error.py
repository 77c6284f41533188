"""`PlainError`: an error whose text is shown without a prefix."""

import click


class PlainError(click.ClickException):
    """Error with the same form as errors of kubectl: the message is printed unchanged."""
