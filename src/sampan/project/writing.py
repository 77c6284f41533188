"""`ProjectChange`: the files that a command writes. All of them are written, or none.

The files are first written to a temporary folder next to their place, and then moved. If a move fails, the earlier ones
are undone.
"""

import difflib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from sampan.project.errors import ProjectError


class FileEffect(StrEnum):
    """Effect of a command on a file."""

    CREATE = "create"
    IDENTICAL = "identical"
    CONFLICT = "conflict"
    SKIP = "skip"
    CHANGE = "change"
    OVERWRITE = "overwrite"
    REMOVE = "remove"


@dataclass(slots=True)
class ProjectChange:
    """Files of a project, with their new texts and the outcome for each."""

    root: Path
    outcomes: dict[str, FileEffect] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """New texts, of the files that are written."""
    hidden: dict[str, str] = field(default_factory=dict)
    """Texts of files that are written without a line of output: records of Sampan."""

    def put(self, path: str, text: str, *, optional: bool = False, force: bool = False) -> None:
        """Write a file. One with other content is a conflict, unless it is optional or `force` is set."""
        present = self.read(path)
        if present is None:
            outcome = FileEffect.CREATE
        elif present == text:
            outcome = FileEffect.IDENTICAL
        elif force:
            outcome = FileEffect.OVERWRITE
        else:
            outcome = FileEffect.SKIP if optional else FileEffect.CONFLICT
        self._set(path, outcome, text)

    def replace(self, path: str, text: str) -> None:
        """Write a file whose new text contains what was there."""
        present = self.read(path)
        same = FileEffect.IDENTICAL if present == text else FileEffect.CHANGE
        self._set(path, FileEffect.CREATE if present is None else same, text)

    def remove(self, path: str) -> None:
        """Remove a file."""
        self.outcomes[path] = FileEffect.REMOVE

    def mark(self, path: str, outcome: FileEffect) -> None:
        """Set the outcome of a file that is not written."""
        self.outcomes[path] = outcome

    def _set(self, path: str, outcome: FileEffect, text: str) -> None:
        self.outcomes[path] = outcome
        if outcome is not FileEffect.IDENTICAL:
            self.texts[path] = text

    @property
    def conflicts(self) -> list[str]:
        """Paths of files that would be overwritten."""
        return [path for path, outcome in self.outcomes.items() if outcome is FileEffect.CONFLICT]

    def read(self, path: str) -> str | None:
        """Return the present text of a file, or None. Raises `ProjectError` for what is no file of the project."""
        place = self.root / path
        if not os.path.lexists(place):
            return None
        if not place.is_file() or not place.resolve().is_relative_to(self.root.resolve()):
            raise ProjectError(f"{place} is no file of the project: move it away")
        try:
            return place.read_bytes().decode()
        except UnicodeDecodeError:
            raise ProjectError(f"{place} is not text in UTF-8: move it away") from None

    def diff(self) -> str:
        """Return the difference between the present and the new texts, as a unified diff."""
        lines: list[str] = []
        for path, outcome in self.outcomes.items():
            if outcome in (FileEffect.SKIP, FileEffect.IDENTICAL):
                continue
            before, after = self.read(path) or "", self.texts.get(path, "")
            old = f"a/{path}" if before else "/dev/null"
            new = "/dev/null" if outcome is FileEffect.REMOVE else f"b/{path}"
            lines += difflib.unified_diff(before.splitlines(True), after.splitlines(True), old, new)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def apply(self) -> None:
        """Write and remove the files. Raises `ProjectError`; then nothing has changed."""
        if self.conflicts:
            raise ProjectError(f"{self.conflicts[0]} exists with other content: see --diff; --force overwrites it")
        if os.path.lexists(self.root) and not self.root.is_dir():
            raise ProjectError(f"{self.root} is no folder: choose another name")
        written = (FileEffect.CREATE, FileEffect.CHANGE, FileEffect.OVERWRITE)
        texts = {path: text for path, text in self.texts.items() if self.outcomes[path] in written}
        removed = [path for path, outcome in self.outcomes.items() if outcome is FileEffect.REMOVE]
        records = {path: text for path, text in self.hidden.items() if self.read(path) != text}
        try:
            _write(self.root, texts | records, removed)
        except OSError as error:
            raise ProjectError(f"cannot write {error.filename or self.root}: {error.strerror or error}") from error


def _write(root: Path, texts: Mapping[str, str], removed: list[str]) -> None:
    """Write the texts and remove the files, or do nothing. Raises `OSError`."""
    if not texts and not removed:
        return
    if not os.path.lexists(root):
        _new_folder(root, texts)
        return
    with _staged(root, texts) as stage, ExitStack() as undo:
        backups = stage / ".kept"
        for path in [*texts, *removed]:
            target = root / path
            if os.path.lexists(target):
                saved = backups / path
                saved.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(target, saved)
                undo.callback(_restore, saved, target)
            else:
                undo.callback(_undo_creation, target, _make_parents(target, root))
            if path in texts:
                if os.path.lexists(target):
                    shutil.copymode(target, stage / path)
                os.replace(stage / path, target)
            else:
                target.unlink()
        undo.pop_all()
    for path in removed:
        _remove_empty(root / path, root)


def _new_folder(root: Path, texts: Mapping[str, str]) -> None:
    root.parent.mkdir(parents=True, exist_ok=True)
    with _staged(root.parent, texts) as stage:
        stage.chmod(0o755)
        os.rename(stage, root)


@contextmanager
def _staged(folder: Path, texts: Mapping[str, str]) -> Iterator[Path]:
    """Write the texts to a new folder, which is removed at the end unless it was renamed."""
    stage = Path(tempfile.mkdtemp(prefix=".sampan-", dir=folder))
    try:
        for path, text in texts.items():
            place = stage / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode())
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _make_parents(target: Path, root: Path) -> list[Path]:
    """Create the missing folders of a path; return them, the innermost first."""
    missing = []
    folder = target.parent
    while folder != root and not folder.exists():
        missing.append(folder)
        folder = folder.parent
    target.parent.mkdir(parents=True, exist_ok=True)
    return missing


def _undo_creation(target: Path, folders: list[Path]) -> None:
    target.unlink(missing_ok=True)
    for folder in folders:
        folder.rmdir()


def _restore(saved: Path, target: Path) -> None:
    shutil.copy2(saved, target)


def _remove_empty(target: Path, root: Path) -> None:
    """Remove the folders of a removed file that have no other content than compiled modules."""
    for folder in target.parents:
        if folder == root or not folder.is_dir():
            return
        if any(each.name != "__pycache__" for each in folder.iterdir()):
            return
        shutil.rmtree(folder)
