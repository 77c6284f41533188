"""Decisions about an upgrade, as functions without I/O: the path, and what runs in each phase."""

from collections.abc import Iterable
from typing import NamedTuple

from upgrades.ledger.v1 import LedgerStatus
from upgrades.migration.v1 import Migration

IN_PROGRESS = ("Backup", "Drain", "Migrate", "Roll", "Verify")
"""Phases before the commit, in their order."""


class Run(NamedTuple):
    """Application that should run."""

    version: int
    file: str
    replicas: int = 1


def path(migrations: Iterable[Migration], start: int, target: int) -> list[Migration] | None:
    """Return the fewest migrations that lead from one version to another; None if there is no path."""
    steps, found, reached = sorted(migrations, key=lambda each: each.metadata.name), {start: list[Migration]()}, [start]
    for version in reached:  # It grows, so that near versions come before far ones.
        for step in steps:
            if step.spec.from_version == version and step.spec.to_version not in found:
                found[step.spec.to_version] = [*found[version], step]
                reached.append(step.spec.to_version)
    return found.get(target)


def running(status: LedgerStatus) -> Run:
    """Return what runs in a phase. Two versions never run at once, and the old file never changes after the drain."""
    if status.phase in ("Roll", "Verify"):
        return Run(status.target, new_file(status))
    return Run(status.version, status.file, 0 if status.phase in ("Drain", "Migrate") else 1)


def new_file(status: LedgerStatus) -> str:
    """Return the file of an attempt."""
    return f"ledger-{status.attempt}.db"


def transaction(migrations: Iterable[Migration], target: int) -> str:
    """Return the migrations and the new version as one transaction."""
    steps = [f"{each.spec.sql.rstrip().rstrip(';')};" for each in migrations]
    table = "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER); DELETE FROM schema_version;"
    return "\n".join(["BEGIN;", *steps, table, f"INSERT INTO schema_version VALUES ({target});", "COMMIT;"])
