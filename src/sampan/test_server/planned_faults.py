"""`PlannedFaults`: the faults of a plan file in one server. Imported only for a plan, because the import is slow."""

import logging
from pathlib import Path
from typing import Final

from sampan.app.errors import StartError
from sampan.registry.cluster import Cluster
from sampan.server.request import Filter
from sampan.test_server.link import Link
from sampan.testing.faults import FaultInjector, Fired, PlanError, read_plan

FIRED_MAX: Final = 100
"""Maximum number of occurrences that are reported at the end."""
_log = logging.getLogger("sampan.app")


class PlannedFaults:
    """Injects the faults of a file. A crash kills the operator of the client at `link`.

    Raises `StartError`, `OSError`.
    """

    def __init__(self, file: Path, link: Link) -> None:
        try:
            self._plan = read_plan(file)
        except PlanError as error:
            raise StartError(str(error)) from error
        self._link = link
        self._injector: FaultInjector | None = None

    def filter_for(self, cluster: Cluster) -> Filter:
        """Return the filter for the server of this cluster."""
        self._injector = FaultInjector(
            self._plan, objects=cluster.reader.get, crash=self._link.crash, on_fire=_log_occurrence
        )
        return self._injector.filter

    def report(self) -> None:
        """Send the client the faults that have occurred, and those that have not."""
        if self._injector is None:
            return
        for fired in self._injector.fired[:FIRED_MAX]:
            self._link.send(f"fired {fired}")
        for fault in self._injector.unfired():
            self._link.send(f"unfired {fault.title}")


def _log_occurrence(fired: Fired) -> None:
    _log.info("fault injected", extra={"fault": str(fired)})
