"""`CacheCounts`: what a watch cache counts as it works, for metrics."""


class CacheCounts:
    """Plain numbers; written on the event loop, read from any thread."""

    __slots__ = ("events", "listed", "lists", "loads", "reads")

    def __init__(self) -> None:
        self.events = 0
        """Events of the store that were taken in."""
        self.loads = 0
        """How often everything was read from the store."""
        self.lists = self.listed = 0
        """Lists that were asked for, but of older states, and the records in them."""
        self.reads = 0
        """Reads that had to see the store's newest revision, and did."""

    def list(self, size: int) -> None:
        """Count a list of so many records."""
        self.lists += 1
        self.listed += size
