"""Location of objects in a store."""

from typing import Final

from sampan.storage.store import Store, prefix_end

OBJECTS: Final = "/registry/"
"""Prefix of the keys of objects."""


async def holds_nothing(store: Store) -> bool:
    """Return True if the store has no objects."""
    return not (await store.range(OBJECTS, prefix_end(OBJECTS), limit=1)).items
