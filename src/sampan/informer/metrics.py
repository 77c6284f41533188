"""Counters of a reflector and its informer, as plain numbers for exporters."""

from dataclasses import dataclass


@dataclass(slots=True)
class InformerMetrics:
    """Counters. They only grow."""

    lists: int = 0
    """Started lists, each with one or more pages."""
    list_pages: int = 0
    """Requests for pages."""
    list_failures: int = 0
    streams: int = 0
    """Started streaming lists."""
    stream_fallbacks: int = 0
    """Streaming lists replaced by a list."""
    watches: int = 0
    """Started watches, without streaming lists."""
    watch_failures: int = 0
    """Watches and streams that ended with an error."""
    short_watches: int = 0
    idle_watches: int = 0
    """Watches replaced because they were silent."""
    events: int = 0
    """Events of watches, without bookmarks."""
    bookmarks: int = 0
    unreadable: int = 0
    """Events and items that were skipped because they were unreadable."""
    stale: int = 0
    """Repeated or late events, skipped because the store had a newer state."""
    backoffs: int = 0
    """Waits after failures."""
