"""`Scenario`: what a user does, and the operator that must cope with it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sampan.testing.cluster import Cluster
from sampan.testing.loop_sets import DEFAULT

Steps = Callable[[Cluster], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """Steps of a user in a cluster with an operator. `steps` waits with `cluster.settled()` between changes."""

    name: str
    steps: Steps
    operator: Any
    """See `Cluster.run`; it must be repeatable, so a `Manager` cannot be used."""
    crds: Sequence[str | Path | type[Any] | dict[str, Any]] = ()
    """CustomResourceDefinitions that exist before the operator starts."""
    loops: str = DEFAULT
    """Built-in loops; see `ClusterOptions`."""


def scenario(
    operator: Any, *, crds: Sequence[str | Path | type[Any] | dict[str, Any]] = (), loops: str = DEFAULT
) -> Callable[[Steps], Scenario]:
    """Turn an asynchronous function of a cluster into a `Scenario` with its name."""

    def make(steps: Steps) -> Scenario:
        return Scenario(getattr(steps, "__name__", "scenario"), steps, operator, crds, loops)

    return make
