"""`CacheCounts`: what a watch cache counts as it works, for metrics."""


class CacheCounts:
    """Plain numbers; written on the event loop, read from any thread."""

    __slots__ = ("begun", "events", "fetched", "found", "listed", "lists", "loads", "reads", "stored_lists")

    def __init__(self) -> None:
        self.events = 0
        """Events of the store that were taken in."""
        self.loads = 0
        """How often everything was read from the store."""
        self.lists = self.listed = 0
        """Lists that were asked for, but of older states, and the records in them."""
        self.begun = 0
        """Objects that watches were given at their beginning."""
        self.stored_lists = self.fetched = self.found = 0
        """Lists that the store was asked for, to begin with or of older states; the rows that came, and those that were
        wanted.
        """
        self.reads = 0
        """Reads that had to see the store's newest revision, and did."""

    def stored_list(self, fetched: int, found: int) -> None:
        """Count a list of the store's."""
        self.stored_lists += 1
        self.fetched += fetched
        self.found += found

    def list(self, size: int) -> None:
        """Count a list of so many records."""
        self.lists += 1
        self.listed += size
