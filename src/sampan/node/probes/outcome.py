"""`Outcome`: what came of looking at a container once. Source: kubernetes pkg/probe/probe.go (1.36)."""

from dataclasses import dataclass
from typing import Literal

Result = Literal["success", "warning", "failure"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result, and a text for people."""

    result: Result
    output: str = ""

    @property
    def is_success(self) -> bool:
        """Whether the container is as it should be."""
        return self.result != "failure"


class ProbeError(Exception):
    """The probe could not be made: that says nothing of the container."""
