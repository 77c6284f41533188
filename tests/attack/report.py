"""Counts of attempts, of refusals as expected, and what was found."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Count:
    """The result of one class of attacks."""

    name: str
    attempts: int = 0
    refused: int = 0
    """Attempts that were refused as expected."""
    findings: list[str] = field(default_factory=list)

    def note(self, context: str, expected_refusal: bool, finding: str) -> None:
        """Count an attempt. `finding`: what is wrong with its response, or nothing."""
        self.attempts += 1
        if finding:
            self.findings.append(f"{context}: {finding}")
        else:
            self.refused += expected_refusal

    def __str__(self) -> str:
        return f"{self.name:40} {self.attempts:8} {self.refused:8} {len(self.findings):8}"
