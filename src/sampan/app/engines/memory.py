"""The engine `memory`: all data is lost when the server ends."""

from dataclasses import dataclass
from pathlib import Path

from sampan.app.engines.engine import Engine, engine
from sampan.storage.memory import MemoryStore
from sampan.storage.store import Store


@engine
@dataclass(frozen=True, slots=True)
class MemoryEngine(Engine):
    """Store in the process."""

    name = "memory"
    summary = "loses everything at the end"
    persistent = False

    def store(self, directory: Path, *, read_only: bool = False) -> Store:
        """Return the store, not yet open."""
        return MemoryStore()
