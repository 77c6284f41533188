"""`ControllerOptions`: settings of a controller.

Source: controller-runtime pkg/controller/controller.go `Options` (0.24).
"""

from dataclasses import dataclass

from sampan.operator.queue import RateLimiter
from sampan.operator.request import Request


@dataclass(frozen=True, slots=True)
class ControllerOptions:
    """Settings of a controller. Raises `ValueError` for invalid values."""

    max_concurrent_reconciles: int = 1
    """Number of workers, which is the number of objects that are reconciled at the same time."""
    rate_limiter: RateLimiter[Request] | None = None
    """Delays of retries. None: separate for each object, from 5 ms, doubled up to 1000 s."""
    reconcile_timeout_s: float | None = None
    """Limit of one reconcile; then it is cancelled and counts as failed. None: no limit."""
    slow_reconcile_s: float = 60.0
    """A slower reconcile is logged with the function that it awaits: after this time, twice this time, and so on."""
    debounce_s: float = 0.0
    """Delay between the first change of an object and its reconcile, which handles all changes in between; 0: none."""
    cache_sync_timeout_s: float = 120.0
    """Limit of the time until the sources have synced."""
    needs_leader_election: bool = True
    """True: only the leader reconciles. False: every replica reconciles."""
    warm_up: bool = False
    """Start the sources before this replica leads, so that it can reconcile as soon as it leads."""
    pausable: bool = True
    """Let users pause single objects of `Builder.for_`, and request their reconciles, by annotations: see `pausing`."""

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
