"""Use of colours on terminals."""

import os
from typing import TextIO


def uses_colours(stream: TextIO) -> bool:
    """Return True for a terminal, unless NO_COLOR (https://no-color.org) is set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
