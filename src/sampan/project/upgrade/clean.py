"""`unclean`: why an upgrade could not be undone."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from sampan.project.units import read_units
from sampan.project.upgrade.merge import YOURS

_SHOWN_MAX: Final = 3
_GIT_S: Final = 30


def unclean(root: Path) -> str:
    """Return why the files should be saved first: changes that git has not, or conflicts; empty if all is well.

    Without git, only conflicts of an earlier upgrade are found.
    """
    for unit in read_units(root):
        for path in unit.files:
            place = root / path
            if place.is_file() and any(
                line.startswith(YOURS) for line in place.read_text(errors="replace").splitlines()
            ):
                return f"{path} has conflicts of an earlier upgrade: resolve them first"
    changed = _uncommitted(root)
    if not changed:
        return ""
    more = f" and {len(changed) - _SHOWN_MAX} more" if len(changed) > _SHOWN_MAX else ""
    return f"files are not committed: {', '.join(changed[:_SHOWN_MAX])}{more}: commit them first, or use --force"


def _uncommitted(root: Path) -> list[str]:
    """Return the files that git has not, or has in another state; empty without git."""
    if shutil.which("git") is None:
        return []
    command = ["git", "--no-optional-locks", "-C", str(root), "status", "--porcelain", "--", "."]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_GIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line[3:] for line in done.stdout.splitlines()] if done.returncode == 0 else []
