"""Changes of `[tool.sampan.image]` in pyproject.toml. All other lines stay as they are."""

import re
from pathlib import Path
from typing import Final

from sampan.project.errors import ProjectError
from sampan.project.image.settings import TABLE
from sampan.project.pyproject import FILE, parse

_HEAD: Final = re.compile(rf"^\[{re.escape(TABLE)}\][^\n]*\n", re.MULTILINE)
_BASE: Final = re.compile(r"^base\s*=[^\n]*\n", re.MULTILINE)
_NEXT: Final = re.compile(r"^\[", re.MULTILINE)


def set_base(root: Path, base: str) -> None:
    """Write the base image. Raises `ProjectError` if the table is in another form than `[tool.sampan.image]`."""
    place = root / FILE
    text = changed = place.read_text()
    line = f'base = "{base}"\n'
    head = _HEAD.search(text)
    if head is None:
        changed = f"{text.rstrip()}\n\n[{TABLE}]\n{line}"
    else:
        after = _NEXT.search(text, head.end())
        end = after.start() if after else len(text)
        body, count = _BASE.subn(lambda _: line, text[head.end() : end], count=1)
        changed = text[: head.end()] + (body if count else line + body) + text[end:]
    try:
        written = parse(changed, place)["tool"]["sampan"]["image"]["base"]
    except (ProjectError, LookupError, TypeError):
        written = ""
    if written != base:
        raise ProjectError(f'{place}: write base = "{base}" into the table [{TABLE}], and run this again')
    place.write_text(changed)
