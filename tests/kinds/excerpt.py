"""Unpack the recorded excerpt of Kubernetes' files: as it is, or with changes that a next version might bring."""

import re
from pathlib import Path
from typing import Final

from scripts.kinds.sources import Sources, find

TEXT: Final = (Path(__file__).parent / "excerpt.txt").read_text()
_FILE = re.compile(r"^-- (\S+) --\n(.*?)(?=^-- |\Z)", re.MULTILINE | re.DOTALL)


def unpack(folder: Path, *changes: tuple[str, str]) -> Sources:
    """Write the excerpt as a checkout below a folder, each `(old, new)` text replaced. Return its sources."""
    text = TEXT
    for old, new in changes:
        assert old in text, f"the excerpt has no {old!r}"
        text = text.replace(old, new)
    for name, content in _FILE.findall(text):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return find(str(folder))
