"""`JobSpec`: the parsed spec of a Job, with its defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sampan.kinds import batch_v1

CONTROLLER_NAME: Final = "kubernetes.io/job-controller"
"""Value of `spec.managedBy` for this controller. It also manages Jobs without that field."""

_INT32_MAX: Final = 2**31 - 1
_BACKOFF_LIMIT: Final = 6


@dataclass(frozen=True, slots=True)
class JobSpec:
    """The fields of a Job's spec that affect decisions. None stands for an absent field, which has its own meaning."""

    parallelism: int = 1
    completions: int | None = None
    """Number of successes to reach; None: the Job is a work queue that ends with the first success."""
    mode: str = "NonIndexed"
    backoff_limit: int = _BACKOFF_LIMIT
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    failure_rules: list[batch_v1.PodFailurePolicyRule] | None = None
    success_rules: list[batch_v1.SuccessPolicyRule] = field(default_factory=list)
    suspend: bool = False
    active_deadline_s: int | None = None
    replacement_policy: str = ""
    restart_policy: str = ""
    managed_by: str = ""

    @classmethod
    def of(cls, job: batch_v1.Job) -> JobSpec:
        """Parse the spec of a Job."""
        spec = job["spec"]
        policy = spec.get("podFailurePolicy")
        success = spec.get("successPolicy")
        per_index = spec.get("backoffLimitPerIndex")
        return cls(
            parallelism=_or(spec.get("parallelism"), 1),
            completions=spec.get("completions"),
            mode=spec.get("completionMode") or "NonIndexed",
            backoff_limit=_or(spec.get("backoffLimit"), _BACKOFF_LIMIT if per_index is None else _INT32_MAX),
            backoff_limit_per_index=per_index,
            max_failed_indexes=spec.get("maxFailedIndexes"),
            failure_rules=None if policy is None else policy.get("rules") or [],
            success_rules=(success.get("rules") if success else None) or [],
            suspend=bool(spec.get("suspend")),
            active_deadline_s=spec.get("activeDeadlineSeconds"),
            replacement_policy=spec.get("podReplacementPolicy") or "",
            restart_policy=spec["template"]["spec"].get("restartPolicy") or "",
            managed_by=spec.get("managedBy") or "",
        )

    @property
    def indexed(self) -> bool:
        """True if each Pod has its own index."""
        return self.mode == "Indexed"

    @property
    def per_index(self) -> bool:
        """True if failures are counted per index."""
        return self.backoff_limit_per_index is not None

    @property
    def replaces_failed_only(self) -> bool:
        """True if a Pod that is being deleted is replaced only after it has ended."""
        return self.replacement_policy == "Failed" or self.failure_rules is not None

    @property
    def managed_elsewhere(self) -> bool:
        """True if another controller manages the Job."""
        return self.managed_by not in ("", CONTROLLER_NAME)

    def has_index(self, index: int | None) -> bool:
        """Return True if an indexed Job has the completion index. It has none from `completions` on."""
        return index is not None and self.completions is not None and index < self.completions


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
