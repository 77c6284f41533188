"""`changes_of`: hints at what a translator must follow, from the history of Git."""

import subprocess
from collections.abc import Iterable, Iterator

from scripts.translations.page import ROOT, Translation, digest


def changes_of(translation: Translation) -> Iterator[str]:
    """Yield lines: a command that shows the difference, and the changed sections of the source."""
    commit = translated_commit(translation)
    if commit is None:
        yield "the history does not have the translated revision; read the whole page"
        return
    yield f"git diff {commit} -- {translation.source}"
    before = sections(_git("show", f"{commit}:{translation.source}").decode().splitlines())
    after = sections((ROOT / translation.source).read_text().splitlines())
    for heading in [*after, *(each for each in before if each not in after)]:
        if heading not in before:
            yield f"new: {heading}"
        elif heading not in after:
            yield f"removed: {heading}"
        elif before[heading] != after[heading]:
            yield f"changed: {heading}"


def translated_commit(translation: Translation) -> str | None:
    """Return a commit in which the source has the translated bytes, or None if the history has none."""
    for commit in _git("log", "--format=%h", "--", translation.source).decode().split():
        if digest(_git("show", f"{commit}:{translation.source}")) == translation.source_sha256:
            return commit
    return None


def sections(lines: Iterable[str]) -> dict[str, list[str]]:
    """Return heading → lines below it. Lines before the first heading, and repeated headings, share an entry."""
    found: dict[str, list[str]] = {}
    heading, is_code = "", False
    for line in lines:
        is_code ^= line.startswith("```")
        if line.startswith("#") and not is_code:
            heading = line
        found.setdefault(heading, []).append(line)
    return found


def _git(*arguments: str) -> bytes:
    """Return the output of Git; nothing if it fails, such as in a copy without history."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=False).stdout
