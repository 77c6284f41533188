"""`ServiceReference`: the Service through which API servers reach an operator."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServiceReference:
    """Service in front of the operator's pods."""

    namespace: str
    name: str
    port: int = 443

    @property
    def hosts(self) -> tuple[str, ...]:
        """DNS names of the Service; API servers use the first."""
        short = f"{self.name}.{self.namespace}"
        return f"{short}.svc", short, f"{short}.svc.cluster.local"
