"""`Scenario`: the steps of a user, and the operator that must handle them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sampan.core.object import Object
from sampan.informer.settings import InformerSettings
from sampan.testing.control_loops.sets import DEFAULT
from sampan.testing.operators.failures import Allowed

Steps = Callable[..., Awaitable[None]]
"""Function with the steps. It gets the cluster, and the external system if the scenario has one."""


@dataclass(frozen=True, slots=True)
class State:
    """Objects of the cluster after a write, and the change that the write made."""

    objects: Mapping[str, Object]
    """Objects by key of the store, without those of a new cluster. Do not change them."""
    before: Object | None
    """Object before the write; None if it was created."""
    after: Object | None
    """Object after the write; None if it was deleted."""

    def list(self, kind: str) -> list[Object]:
        """Return the objects of a kind."""
        return [each for each in self.objects.values() if each.get("kind") == kind]


Check = Callable[[State], str | None]
"""Function that returns the fault of a state as text, or None. It is called after each write of a run."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Steps of a user in a cluster with an operator. `steps` waits with `cluster.settled()` between changes."""

    name: str
    steps: Steps
    operator: Any
    """Operator as for `Cluster.run`. It is started many times, so a `Manager` cannot be used."""
    crds: Sequence[str | Path | type[Any] | dict[str, Any]] = ()
    """CustomResourceDefinitions that exist before the operator starts."""
    loops: str = DEFAULT
    """Built-in loops; see `ClusterOptions`."""
    checks: Sequence[Check] = ()
    """Rules for every state between the first and the last write, with a fault and without one."""
    system: Callable[[], Any] | None = None
    """Makes the external system of a run, with methods that `external` has marked.

    The operator and the steps get it as their second argument. Its `state()`, or else its public attributes, are part
    of the final state of a run.
    """
    lease: str = ""
    """Name of the operator's Lease in namespace `default`. A function that adds controllers gets a manager with it."""
    drift: bool = False
    """Another actor deletes and changes objects that have an owner: the operator must restore them."""
    rbac: Sequence[Mapping[str, Any]] | None = None
    """Roles and ClusterRoles of the operator; None: it has all rights."""
    informers: InformerSettings | None = None
    """Settings of the operator's informers, as in `ManagerOptions`."""
    needs: Sequence[Any] = ()
    """Manifests of objects that exist before the operator starts: Secrets, namespaces, CRDs and others that it reads.

    Each of them is absent in one run, and is created 30 s after the start. In other runs it is deleted later.
    """
    allow_errors: Allowed = False
    """Errors of the operator in the run without a fault that are not errors of the scenario; see `ClusterOptions`."""
    allowed: Sequence[str] = ()
    """Beginnings of the signs that are right in the run without a fault: `jobs/default/once`.

    See `observations/suspicions.py`.
    """


def scenario(
    operator: Any,
    *,
    crds: Sequence[str | Path | type[Any] | dict[str, Any]] = (),
    loops: str = DEFAULT,
    checks: Sequence[Check] = (),
    system: Callable[[], Any] | None = None,
    lease: str = "",
    drift: bool = False,
    rbac: Sequence[Mapping[str, Any]] | None = None,
    informers: InformerSettings | None = None,
    needs: Sequence[Any] = (),
    allow_errors: Allowed = False,
    allowed: Sequence[str] = (),
) -> Callable[[Steps], Scenario]:
    """Turn an asynchronous function of a cluster into a `Scenario` with its name. See `Scenario` for the arguments."""

    def make(steps: Steps) -> Scenario:
        name = getattr(steps, "__name__", "scenario")
        return Scenario(
            name,
            steps,
            operator,
            crds,
            loops,
            checks,
            system,
            lease,
            drift,
            rbac,
            informers,
            needs,
            allow_errors,
            allowed,
        )

    return make
