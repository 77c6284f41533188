"""Search for plugins on PATH, and for the one that a command line runs.

`sampan a b-c x` runs the longest existing name of `sampan-a-b_c-x`, `sampan-a-b_c`, `sampan-a`. Words are joined by
dashes, so a dash in a word is an underscore in the file's name. The remaining words are arguments of the plugin.

Source: kubectl pkg/cmd/cmd.go HandlePluginCommand, pkg/cmd/plugin/plugin.go (1.36).
"""

import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PREFIX: Final = "sampan-"


@dataclass(frozen=True, slots=True)
class Invocation:
    """Plugin with its arguments."""

    path: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """File on PATH with the name of a plugin. `warnings` give the reasons why it is not run."""

    path: Path
    warnings: tuple[str, ...]


def find_plugin(arguments: Sequence[str], search_path: str) -> Invocation | None:
    """Return the plugin that a command line runs, or None. `search_path` is the value of PATH."""
    words: list[str] = []
    for argument in arguments:
        # A flag ends the name. A word with a slash would turn the name into a path outside PATH.
        if argument.startswith("-") or "/" in argument or not argument:
            break
        words.append(argument.replace("-", "_"))
    for count in range(len(words), 0, -1):
        path = shutil.which(PREFIX + "-".join(words[:count]), path=search_path)
        if path is not None:
            return Invocation(path, tuple(arguments[count:]))
    return None


def list_plugins(search_path: str, commands: Collection[str]) -> Iterator[Listed]:
    """Yield all files on PATH with the name of a plugin, in the order of PATH. `commands` are the built-in ones."""
    seen: dict[str, Path] = {}
    for directory in dict.fromkeys(filter(None, search_path.split(os.pathsep))):
        for path in _files(Path(directory)):
            yield Listed(path, tuple(_warnings(path, seen, commands)))
            if os.access(path, os.X_OK):
                seen.setdefault(path.name, path)


def _files(directory: Path) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if path.name.startswith(PREFIX) and path.is_file())
    except OSError:
        # Folders on PATH may be missing or unreadable.
        return []


def _warnings(path: Path, seen: dict[str, Path], commands: Collection[str]) -> Iterator[str]:
    command = path.name.removeprefix(PREFIX).split("-")[0].replace("_", "-")
    if command in commands:
        yield f'{path} is never run: "sampan {command}" is built in'
    if not os.access(path, os.X_OK):
        yield f"{path} identified as a sampan plugin, but it is not executable"
    elif path.name in seen:
        yield f"{path} is overshadowed by a similarly named plugin: {seen[path.name]}"
