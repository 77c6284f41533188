"""`WatchRetry`: decides after the end of a watch whether to resume it or to list again.

Source: client-go tools/cache/reflector.go `watch`, `VeryShortWatchError`, retry_with_deadline.go (1.36).
"""

from sampan.client.errors import ClientError, ServerError
from sampan.informer.reflector.position import is_unavailable
from sampan.informer.settings import ReflectorSettings


class VeryShortWatch(ClientError):
    """Too many consecutive watches have ended immediately without events."""


class WatchRetry:
    """Retry decisions for consecutive watches without a list between them."""

    def __init__(self, settings: ReflectorSettings) -> None:
        self._settings = settings
        self._failed_at = self._failing_since = float("-inf")
        self._short = 0

    def may_resume_after(self, error: ClientError, now: float) -> bool:
        """Return True if the watch may be resumed at its last version.

        It may be resumed after a lost connection or 429 (too many requests), and for `internal_error_s` after 5xx. It
        must not be resumed if the server does not have the version.
        """
        if is_unavailable(error):
            return False
        if not isinstance(error, ServerError):
            return True
        # The last failure is long ago, so this one starts a new series.
        if now - self._failed_at >= self._settings.internal_error_s:
            self._failing_since = now
        self._failed_at = now
        return now - self._failing_since <= self._settings.internal_error_s

    def was_short(self, lasted_s: float, events: int) -> bool:
        """Return True if a watch that ended without an error was so short that the next one must be delayed.

        Raises `VeryShortWatch` after too many without events: then a list is needed.
        """
        is_short = lasted_s < self._settings.short_watch_s
        if events or not is_short:
            self._short = 0
            return is_short
        self._short += 1
        if self._short >= self._settings.short_watches_max:
            raise VeryShortWatch(f"{self._short} watches ended within a second without events")
        return True
