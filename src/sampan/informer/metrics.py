"""Counters of a reflector and its informer. Plain numbers, read by whoever exports them."""

from dataclasses import dataclass


@dataclass(slots=True)
class InformerMetrics:
    """They only grow."""

    lists: int = 0
    """Lists begun (each of one or many pages)."""
    list_pages: int = 0
    """Requests for pages."""
    list_failures: int = 0
    streams: int = 0
    """Streaming lists begun."""
    stream_fallbacks: int = 0
    """Streaming lists given up for a list."""
    watches: int = 0
    """Watches begun, other than streaming lists."""
    watch_failures: int = 0
    """Watches and streams that ended with an error."""
    short_watches: int = 0
    idle_watches: int = 0
    """Watches given up because they were silent."""
    events: int = 0
    """Events of watches, without bookmarks."""
    bookmarks: int = 0
    unreadable: int = 0
    """Events and items passed over because they were no objects."""
    stale: int = 0
    """Events passed over because a newer state was known: repeated or late ones."""
    backoffs: int = 0
    """Waits after failures."""
