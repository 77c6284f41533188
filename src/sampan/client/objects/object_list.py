"""`ObjectList`: a decoded page of a list."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ObjectList(Generic[T]):
    """Objects at one revision, in the server's order (namespace, then name). Iteration yields the items."""

    items: list[T]
    resource_version: str
    """Revision of the list. A watch that starts at this revision misses no change."""
    continue_token: str = ""
    """Token that requests the next page (`ListOptions.continue_token`); empty on the last page."""
    remaining: int | None = None
    """Number of objects after this page, if the server returns it."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)
