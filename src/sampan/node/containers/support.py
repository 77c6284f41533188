"""`ContainerSupport`: everything that containers need besides a runtime: volumes, environment, probes, hooks, shutdown.

Processes need all of it (`ProcessSupport`). Simulated containers need nothing (`NoSupport`): thousands of them run in
one process, and their Pods' annotations replace probes and hooks.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from sampan.node.environment.fields import PodPlace
from sampan.node.references import Missing, Unreadable
from sampan.node.runtime import ContainerRecord, Runtime
from sampan.node.sessions import ContainerConfig
from sampan.node.views.container import Container
from sampan.node.volumes.mounts import MountError

NOT_CREATED: Final = (Missing, Unreadable, MountError, ValueError, OSError)
"""Errors of `configs` and `config_of` that are reported as CreateContainerConfigError."""

Records = Mapping[str, ContainerRecord]


class Configs(Protocol):
    """Makes the configurations of one Pod's containers."""

    async def config_of(self, container: Container) -> ContainerConfig:
        """Return the configuration of a container, with all references resolved. Raises `NOT_CREATED`."""
        ...


class ContainerSupport(Protocol):
    """Collaborator of `PodWorker`. The worker calls it for one Pod at a time."""

    async def mount(self, place: PodPlace) -> bool:
        """Mount the Pod's volumes, and update their files. Returns False if some are not available yet."""
        ...

    async def unmount(self, uid: str) -> None:
        """Unmount the volumes of drivers, after the containers of the Pod have ended.

        After an error, the worker calls it again.
        """
        ...

    def recover(self, uids: set[str]) -> None:
        """Unmount the volumes that an earlier agent has mounted for Pods other than these."""
        ...

    async def configs(self, place: PodPlace) -> Configs:
        """Return the configurations of the Pod's containers, as they are now."""
        ...

    def observe(self, runtime: Runtime, place: PodPlace) -> None:
        """Start and end probes, hooks and shutdowns to match the current state of the containers."""
        ...

    def applied(self, uid: str, records: Records) -> Records:
        """Return the records with the results of probes and hooks."""
        ...

    def started(self, runtime: Runtime, place: PodPlace, container: Container, record: ContainerRecord) -> None:
        """Run the postStart hook of a container that has just started."""
        ...

    def delays_starts(self, uid: str) -> bool:
        """Return True while a postStart hook runs that must end before another container of the Pod starts."""
        ...

    async def stop(self, runtime: Runtime, place: PodPlace, names: Sequence[str], grace_s: float) -> None:
        """Stop containers in their order: preStop hooks, then signals; sidecars last."""
        ...

    def stop_unhealthy(self, runtime: Runtime, place: PodPlace, grace_s: float) -> None:
        """Stop containers whose liveness probe, startup probe or postStart hook has failed."""
        ...

    def pod_ends(self, uid: str) -> None:
        """End the probes that could restart containers of a Pod that is being stopped."""
        ...

    def pod_ended(self, uid: str) -> None:
        """End all probes and shutdowns of a Pod whose containers have ended."""
        ...

    def wake_s(self, uid: str) -> float | None:
        """Return in how many seconds a volume needs work: a new token, or another attempt to mount it."""
        ...

    async def forget(self, uid: str) -> None:
        """Remove the volumes and the state of a Pod whose sandbox was removed."""
        ...


class _EmptyConfigs:
    async def config_of(self, container: Container) -> ContainerConfig:
        return _EMPTY


_EMPTY: Final = ContainerConfig()
_EMPTY_CONFIGS: Final = _EmptyConfigs()


class NoSupport:
    """Support for containers that are not processes. Only `stop` has an effect: it stops them at once."""

    async def mount(self, place: PodPlace) -> bool:
        """Mount nothing."""
        return True

    async def unmount(self, uid: str) -> None:
        """Do nothing."""

    def recover(self, uids: set[str]) -> None:
        """Do nothing."""

    async def configs(self, place: PodPlace) -> Configs:
        """Return empty configurations."""
        return _EMPTY_CONFIGS

    def observe(self, runtime: Runtime, place: PodPlace) -> None:
        """Do nothing."""

    def applied(self, uid: str, records: Records) -> Records:
        """Return the records unchanged."""
        return records

    def started(self, runtime: Runtime, place: PodPlace, container: Container, record: ContainerRecord) -> None:
        """Do nothing."""

    def delays_starts(self, uid: str) -> bool:
        """Return False."""
        return False

    async def stop(self, runtime: Runtime, place: PodPlace, names: Sequence[str], grace_s: float) -> None:
        """Stop containers, all at the same time and without hooks."""
        await runtime.stop_containers(place.pod, names, grace_s)

    def stop_unhealthy(self, runtime: Runtime, place: PodPlace, grace_s: float) -> None:
        """Do nothing."""

    def pod_ends(self, uid: str) -> None:
        """Do nothing."""

    def pod_ended(self, uid: str) -> None:
        """Do nothing."""

    def wake_s(self, uid: str) -> float | None:
        """Return None."""
        return None

    async def forget(self, uid: str) -> None:
        """Do nothing."""
