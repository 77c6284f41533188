"""Whether a person looks."""

import os
from typing import TextIO


def colours_wanted(stream: TextIO) -> bool:
    """Colours are for terminals; NO_COLOR (https://no-color.org) turns them off there too."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
