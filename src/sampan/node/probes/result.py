"""`ProbeResult`: result of one check of a container. Source: kubernetes pkg/probe/probe.go (1.36)."""

from dataclasses import dataclass
from typing import Literal

Result = Literal["success", "warning", "failure"]


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Result, and output for events."""

    result: Result
    output: str = ""

    @property
    def is_success(self) -> bool:
        """True if the check succeeded, perhaps with a warning."""
        return self.result != "failure"


class ProbeError(Exception):
    """The check could not be made. The state of the container is unknown."""
