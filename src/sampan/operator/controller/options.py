"""`ControllerOptions`: how a controller works.

Source: controller-runtime pkg/controller/controller.go `Options` (0.24).
"""

from dataclasses import dataclass

from sampan.operator.queue import RateLimiter
from sampan.operator.request import Request


@dataclass(frozen=True, slots=True)
class ControllerOptions:
    """How a controller works. Raises `ValueError` for what makes no sense."""

    max_concurrent_reconciles: int = 1
    """How many workers there are: so many different objects are worked on at once."""
    rate_limiter: RateLimiter[Request] | None = None
    """When what failed is tried again. None: each object on its own, from 5 ms doubling to 1000 s."""
    reconcile_timeout_s: float | None = None
    """The longest that one reconcile may take; then it is cancelled and counts as failed. None: any time."""
    slow_reconcile_s: float = 60.0
    """A reconcile that takes longer is logged with what it awaits: after this time, twice this time, and so on."""
    debounce_s: float = 0.0
    """Changes of watched objects are looked at so long after the first of them, all at once; 0: at once."""
    cache_sync_timeout_s: float = 120.0
    """The longest that the sources may take until they have told all that there is."""
    needs_leader_election: bool = True
    """Whether only the leader reconciles. False: every replica does."""
    warm_up: bool = False
    """Whether the sources start before this replica leads, so that it can work at once when it does."""

    def __post_init__(self) -> None:
        if self.max_concurrent_reconciles < 1:
            raise ValueError(f"max_concurrent_reconciles must be at least 1, not {self.max_concurrent_reconciles}")
        if self.reconcile_timeout_s is not None and self.reconcile_timeout_s <= 0:
            raise ValueError(f"reconcile_timeout_s must be positive, not {self.reconcile_timeout_s}")
        if self.slow_reconcile_s <= 0:
            raise ValueError(f"slow_reconcile_s must be positive, not {self.slow_reconcile_s}")
        if self.debounce_s < 0:
            raise ValueError(f"debounce_s cannot be negative, but is {self.debounce_s}")
        if self.cache_sync_timeout_s <= 0:
            raise ValueError(f"cache_sync_timeout_s must be positive, not {self.cache_sync_timeout_s}")
