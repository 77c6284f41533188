"""`ObjectList`: a page of a list, decoded."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ObjectList(Generic[T]):
    """Objects of one revision, in the server's order (namespace, then name). Iterating gives the items."""

    items: list[T]
    resource_version: str
    """A watch from here misses nothing."""
    continue_token: str = ""
    """Asks for the next page (`ListOptions.continue_token`); empty at the last."""
    remaining: int | None = None
    """How many there are beyond this page, as far as the server says."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)
