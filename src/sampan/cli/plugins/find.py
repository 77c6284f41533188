"""Which executables on PATH are plug-ins, and which of them a command line means.

`sampan a b-c x` means the longest of `sampan-a-b_c-x`, `sampan-a-b_c`, `sampan-a` that there is: words are joined by
dashes, so a dash within a word is an underscore in the file's name. What is left over are the plug-in's arguments.
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
    """A plug-in and what it is called with."""

    path: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A file on PATH that has a plug-in's name; `warnings` say why it is not run, or another one in its place."""

    path: Path
    warnings: tuple[str, ...]


def find_plugin(arguments: Sequence[str], search_path: str) -> Invocation | None:
    """The plug-in that a command line means; None: there is none. `search_path` is what PATH says."""
    words: list[str] = []
    for argument in arguments:
        # A flag ends the name; a slash would make a path of it, and lead to files that are not on PATH.
        if argument.startswith("-") or "/" in argument or not argument:
            break
        words.append(argument.replace("-", "_"))
    for count in range(len(words), 0, -1):
        path = shutil.which(PREFIX + "-".join(words[:count]), path=search_path)
        if path is not None:
            return Invocation(path, tuple(arguments[count:]))
    return None


def list_plugins(search_path: str, commands: Collection[str]) -> Iterator[Listed]:
    """All files on PATH that have a plug-in's name, in PATH's order. `commands`: the built-in ones."""
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
        # PATH may name what is not there, or what may not be read.
        return []


def _warnings(path: Path, seen: dict[str, Path], commands: Collection[str]) -> Iterator[str]:
    command = path.name.removeprefix(PREFIX).split("-")[0].replace("_", "-")
    if command in commands:
        yield f'{path} is never run: "sampan {command}" is built in'
    if not os.access(path, os.X_OK):
        yield f"{path} identified as a sampan plugin, but it is not executable"
    elif path.name in seen:
        yield f"{path} is overshadowed by a similarly named plugin: {seen[path.name]}"
