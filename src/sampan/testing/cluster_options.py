"""`ClusterOptions`: options of a cluster, and `State`: a copy of one."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sampan.server.admission.order import NAMES
from sampan.server.admission.settings import NODE_RESTRICTION, SERVICE_ACCOUNT, AdmissionSettings, check_names
from sampan.server.authorization.authorizer import Authorizer
from sampan.storage.memory import MemoryStore
from sampan.testing.control_loops.sets import DEFAULT, LoopNames
from sampan.testing.operators.failures import Allowed
from sampan.testing.rights.role_files import RolesUnderTest, read_roles
from sampan.testing.time.virtual_time import START

_TAINT_NODES: Final = "TaintNodesByCondition"


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Options of a cluster, as in `@pytest.mark.cluster(...)`."""

    loops: str = DEFAULT
    """Built-in loops; see `loop_sets`."""
    admission: str = ""
    """Admission plug-ins to turn on, or off with `-`: `-ResourceQuota,AlwaysPullImages`."""
    nodes: int = 1
    """Number of simulated nodes, with the loop `nodes` (it is part of `chain`)."""
    virtual: bool = True
    """True: time passes at once while all tasks wait. False: time is real."""
    start: dt.datetime = START
    """First instant of the virtual clock."""
    leaks: tuple[str, ...] = ()
    """Beginnings of the lines of allowed leaks: `configmaps/box`."""
    allow_errors: Allowed = False
    """Errors of operators that do not fail the test: True for all, or classes. See `operators/failures.py`."""
    roles: str | Sequence[Mapping[str, Any]] = ()
    """Path of a file of `sampan test privileges`, or its roles: operators without a `user` have only these rights."""

    def authorizers(self) -> tuple[Authorizer, ...]:
        """Return the authorizer of the roles, if there are any. Raises `RoleFileError`, `OSError`."""
        if not self.roles:
            return ()
        return (RolesUnderTest(read_roles(Path(self.roles)) if isinstance(self.roles, str) else self.roles),)


@dataclass(frozen=True, slots=True)
class State:
    """Copy of a cluster at one instant: its objects, history and time. Operators are not part of it."""

    store: MemoryStore
    at_s: float


def admission_of(text: str, loops: LoopNames) -> AdmissionSettings:
    """Return the plug-ins of production, without those that need a loop that does not run."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    enabled = {NODE_RESTRICTION, *(word for word in words if not word.startswith("-"))}
    disabled = {word.removeprefix("-") for word in words if word.startswith("-")}
    check_names(frozenset(enabled), frozenset(disabled), NAMES)
    if loops.makes_accounts:
        enabled.add(SERVICE_ACCOUNT)
    if not loops.judges_nodes and _TAINT_NODES not in enabled:
        disabled.add(_TAINT_NODES)
    return AdmissionSettings(frozenset(enabled - disabled), frozenset(disabled))
