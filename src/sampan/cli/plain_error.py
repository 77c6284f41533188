"""`PlainError`: an error whose text is shown without a prefix."""

import click


class PlainError(click.ClickException):
    """Error in the form of kubectl's: the message is complete."""
