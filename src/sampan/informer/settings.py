"""Settings of reflectors and informers."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sampan.client.retries.backoff import Backoff
from sampan.client.retries.delay import BACKOFF_RESET_S
from sampan.client.watching.idle_limit import IDLE_S, IDLE_WITHOUT_BOOKMARKS_S

LIST_WATCH_BACKOFF: Final = Backoff(0.8, factor=2.0, jitter=1.0, cap_s=30.0)
"""Delays after failed lists and watches. Source: client-go tools/cache/reflector.go (1.36)."""


@dataclass(frozen=True, slots=True)
class ReflectorSettings:
    """Settings of lists and watches. Times are seconds of the event loop's clock."""

    page_size: int = 500
    """Items of a page of a list; 0: all at once."""
    streaming: bool = True
    """Request the initial state as a stream (`sendInitialEvents`); a server without support gets plain lists."""
    newest: bool = False
    """Start with the newest state, also without streaming lists.

    False: a plain list may return an older state from the server's cache, which is cheaper.
    """
    stream_stall_s: float = 10.0
    """Limit of the time without a new object in an incomplete stream. Then a list replaces it."""
    stream_s_max: float = 300.0
    """Limit of the total time of an incomplete stream. Then a list replaces it."""
    bookmarks: bool = True
    """Request bookmarks. Without them, a watch that ends after a long silence is replaced by a list."""
    watch_s_min: float = 300.0
    """Lower limit of the random duration that is requested for a watch."""
    watch_s_max: float = 600.0
    """Upper limit of that duration. The randomness spreads reconnects over time."""
    idle_timeout_s: float = IDLE_S
    """A watch that is silent for longer is replaced: its connection counts as dead.

    Applies to servers that send bookmarks.
    """
    idle_timeout_without_bookmarks_s: float = IDLE_WITHOUT_BOOKMARKS_S
    """Idle timeout as long as the server has sent no bookmark."""
    short_watch_s: float = 1.0
    """A watch that ends sooner is delayed like a failure, so a server that ends every watch at once is not flooded."""
    short_watches_max: int = 3
    """Limit of consecutive short watches without events. Then a list is requested."""
    internal_error_s: float = 60.0
    """Time during which a watch is resumed after InternalError. Then a list is requested."""
    backoff: Backoff = LIST_WATCH_BACKOFF
    backoff_reset_s: float = BACKOFF_RESET_S
    """Time without a failure after which the backoff starts from its first delay."""
    rand: Callable[[], float] = random.random
    """Numbers from 0 to 1, for jitter."""


@dataclass(frozen=True, slots=True)
class InformerSettings:
    """Settings of an informer and its store."""

    reflector: ReflectorSettings = field(default_factory=ReflectorSettings)
    keep_managed_fields: bool = False
    """Keep `metadata.managedFields`. Only the server reads them, and they are often half of an object."""
    compress_deltas: bool = False
    """Use a `DeltaFIFO` (events grouped by key) instead of an `InOrderQueue`."""
