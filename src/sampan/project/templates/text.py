"""`FileText`: one file of a template."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

SCAFFOLD: Final = 3
"""Version of all templates together. Raise it with each change of their output."""


@dataclass(frozen=True, slots=True)
class FileText:
    """Content of a file, and the reason why it is there."""

    text: str
    why: str
    optional: bool = False
    """True: a file that exists with other content is left as it is, because the project works with it."""


Files = Mapping[str, FileText]
"""Files by their path in the project, with `/` between folders."""
