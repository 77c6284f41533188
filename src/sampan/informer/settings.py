"""Settings of reflectors and informers."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sampan.client.backoff import Backoff
from sampan.client.idle_limit import IDLE_S, IDLE_WITHOUT_BOOKMARKS_S
from sampan.client.pace import BACKOFF_RESET_S

LIST_WATCH_BACKOFF: Final = Backoff(0.8, factor=2.0, jitter=1.0, cap_s=30.0)
"""Source: client-go tools/cache/reflector.go (1.36)."""


@dataclass(frozen=True, slots=True)
class ReflectorSettings:
    """How a reflector lists and watches. Times are seconds of the event loop's clock."""

    page_size: int = 500
    """Items of a page of a list; 0: all at once."""
    streaming: bool = True
    """Ask for the first state as a stream (`sendInitialEvents`); a server that cannot is asked for lists."""
    stream_stall_s: float = 10.0
    """A stream that has brought no object for so long and has not said that it is complete is given up for a list."""
    stream_s_max: float = 300.0
    """The same for a stream that is not complete after so long."""
    watch_s_min: float = 300.0
    """A watch is asked to end after a random time from this one …"""
    watch_s_max: float = 600.0
    """… to this one, so that watches spread out."""
    idle_timeout_s: float = IDLE_S
    """A watch that is silent for longer is replaced: its connection counts as dead. For servers that send bookmarks."""
    idle_timeout_without_bookmarks_s: float = IDLE_WITHOUT_BOOKMARKS_S
    """The same as long as the server has sent no bookmark."""
    short_watch_s: float = 1.0
    """A watch that ends sooner is waited out like a failure, so that a server that ends each at once is not flooded."""
    short_watches_max: int = 3
    """After so many of them in a row that brought nothing, a list is due."""
    internal_error_s: float = 60.0
    """InternalError of a watch is retried where it was for so long, then a list is due."""
    backoff: Backoff = LIST_WATCH_BACKOFF
    backoff_reset_s: float = BACKOFF_RESET_S
    """After so long without a failure the back-off starts again."""
    rand: Callable[[], float] = random.random
    """Numbers from 0 to 1, for jitter."""


@dataclass(frozen=True, slots=True)
class InformerSettings:
    """How an informer keeps its objects."""

    reflector: ReflectorSettings = field(default_factory=ReflectorSettings)
    keep_managed_fields: bool = False
    """`metadata.managedFields` is dropped: nothing but the server reads it, and it is often half of an object."""
    compress_deltas: bool = False
    """Use a `DeltaFIFO` (events gathered by key) instead of an `InOrderQueue`."""
