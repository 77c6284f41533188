"""`Engine`: interface of a storage engine for the commands; `engine` registers one."""

from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import ClassVar, Protocol, TypeVar

from sampan.app.errors import StartError
from sampan.storage.snapshot.rows import Rows
from sampan.storage.store import Store


class CopyTarget(Store, Protocol):
    """Store into which another one is copied. Implemented in `storage/snapshot/etcd_target.py`."""

    async def begin(self, what: str, *, clear: bool) -> None:
        """Mark all further writes as a partial copy `what`. `clear`: first delete another partial copy."""

    async def finish(self) -> None:
        """Remove the mark: the copy is complete."""


class Engine(ABC):
    """Storage engine with its settings. Subclasses are frozen dataclasses; their fields are options of the commands."""

    __slots__ = ()

    name: ClassVar[str]
    """Name in --storage and in store URLs."""
    summary: ClassVar[str]
    """Clause about the engine, for the help of --storage."""
    url_form: ClassVar[str] = ""
    """Form of store URLs (`sqlite:DIRECTORY`); empty if commands cannot copy from or to the engine."""
    url_option: ClassVar[str] = ""
    """Option that a store URL replaces."""
    shared: ClassVar[bool] = False
    """True if several servers can use one store. The control loops then elect a leader."""
    local: ClassVar[bool] = False
    """True if the store is a database file in the data directory. Copies of it keep their revisions."""
    persistent: ClassVar[bool] = True
    """True if values may come from an earlier process, or from kube-apiserver."""

    @abstractmethod
    def store(self, directory: Path, *, read_only: bool = False) -> Store:
        """Return the store, not yet open. Its values are as they are on disk. Raises `StartError`."""

    def database(self, directory: Path) -> Path | None:
        """Return the database file in a data directory; None if the engine has none."""
        return None

    @classmethod
    def is_unfinished(cls, directory: Path) -> bool:
        """Return True if a restore or a copy ended before it had made the store in the data directory."""
        return False

    @classmethod
    def check_whole(cls, directory: Path) -> None:
        """Raise `StartError` if the store in the data directory is unfinished."""
        if cls.is_unfinished(directory):
            raise StartError(
                f"a restore or a copy to {directory} was interrupted: run the command again, which starts over"
            )

    def at(self, place: str) -> tuple["Engine", Path | None]:
        """Return the engine for the place in a store URL, and the data directory if the place is one.

        Raises `ValueError`.
        """
        raise ValueError(f"the engine {self.name} has no store URLs")

    def rows(self, directory: Path) -> AbstractAsyncContextManager[Rows]:
        """Return the content of a store, which is not changed and may be in use by a server.

        Raises `StartError`, `StoreUnavailable`, `StoreIncomplete`.
        """
        raise NotImplementedError(f"the engine {self.name} cannot be copied")

    def copy_target(self) -> CopyTarget:
        """Return the target of a copy, if the engine is not `local`. Raises `StartError`."""
        raise NotImplementedError(f"the engine {self.name} cannot be copied to")


E = TypeVar("E", bound=type[Engine])

ENGINES: dict[str, type[Engine]] = {}
"""Classes of engines by name."""


def engine(made: E) -> E:
    """Register the class of an engine."""
    ENGINES[made.name] = made
    return made
