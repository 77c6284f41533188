"""`Cache`: results of earlier builds, so that a build makes only what depends on a changed file."""

import hashlib
import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from scripts.site.places import ROOT

_T = TypeVar("_T")
_GENERATOR: Final = ("scripts/site", "scripts/reference", "scripts/translations", "packaging/api")
SOURCES: Final = (*_GENERATOR, "src", "benchmarks/results", "examples")
"""Folders that the generated reference depends on."""


@dataclass
class Cache:
    """Results by their inputs. Those that a build does not use are dropped."""

    file: Path | None = None
    """Where they are kept between builds; None: nowhere."""
    generator: str = ""
    made: int = 0
    """Pages that were rendered, and not taken from an earlier build."""
    _old: dict[str, Any] = field(default_factory=dict)
    _new: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path, *, is_fresh: bool = False) -> "Cache":
        """Return the results of the last build; none if `is_fresh`, or if the program has changed since."""
        generator = signature(_GENERATOR)
        if is_fresh:
            return cls(file, generator)
        try:
            old = pickle.loads(file.read_bytes())
        except (OSError, ValueError, EOFError, AttributeError, ImportError, pickle.UnpicklingError):
            old = {}
        return cls(file, generator, _old=old if old.get("generator") == generator else {})

    def get(self, make: Callable[[], _T], *inputs: str, valid: Callable[[_T], bool] = lambda _: True) -> _T:
        """Return the result for these inputs. Make it if there is none, or it is not valid."""
        key = hashlib.sha256("\0".join(inputs).encode()).hexdigest()
        if key in self._new:
            result: _T = self._new[key]
        elif key in self._old and valid(self._old[key]):
            result = self._old[key]
        else:
            result = make()
        self._new[key] = result
        return result

    def save(self) -> None:
        """Keep the results of this build."""
        if self.file is not None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_bytes(pickle.dumps({**self._new, "generator": self.generator}))


def signature(folders: Iterable[str]) -> str:
    """Return a text that changes with each change of a file in some folders of the repository."""
    found = hashlib.sha256()
    for folder in folders:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix != ".pyc" and file.is_file():
                state = file.stat()
                found.update(f"{file} {state.st_size} {state.st_mtime_ns}\n".encode())
    return found.hexdigest()
